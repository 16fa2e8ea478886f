// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What rounds cost, learnt from rounds. A machine that slows down slows every round, so all costs are in
// vanilla rounds, and every round tells the present time of one. Costs themselves are learnt only right after
// vanilla rounds, which serve as the reference. All are medians of the latest values, so an interrupted round
// has no effect.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// The account that keeps decoding from being slower than vanilla. Each round adds the vanilla rounds that
/// its tokens would have taken, minus the time it took. The loss may reach a share of all that vanilla
/// decoding would have taken, plus `opening` vanilla rounds. The total therefore takes at most (1 + share)
/// times vanilla's time plus these, whatever the text does, provided that the time of a vanilla round is
/// known.
class TimeAccount {
 public:
  struct Options {
    double share = 0.02;     ///< Share of vanilla's time that may be lost.
    double opening = 2.0;    ///< Vanilla rounds that may be lost in addition.
    double max_gain = 16.0;  ///< Vanilla rounds; larger gains do not offset later losses.
  };
  explicit TimeAccount(const Options& options) : options_(options) {}

  /// Adds a round that emitted `tokens` in the time of `rounds` vanilla rounds.
  void add(double tokens, double rounds) {
    vanilla_ += tokens;
    balance_ = std::min(balance_ + tokens - rounds, options_.max_gain - options_.share * vanilla_);
  }
  /// Vanilla rounds that may be lost from now on.
  [[nodiscard]] double balance() const { return balance_ + options_.share * vanilla_ + options_.opening; }

 private:
  Options options_;
  double balance_ = 0.0;
  double vanilla_ = 0.0;  // rounds that vanilla decoding would have taken so far
};

/// The median of the latest values.
class RecentMedian {
 public:
  /// `window`: values that count.
  explicit RecentMedian(std::size_t window = 9) : latest_(window) {}
  void add(double value);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The median; the lower of the two middle values for an even number. There must be at least one value.
  [[nodiscard]] double value() const { return median_; }

 private:
  std::vector<double> latest_;
  std::vector<double> reordered_;
  std::size_t count_ = 0;  // number of values
  std::size_t next_ = 0;   // index of the value that is overwritten next
  double median_ = 0.0;
};

/// One round's times.
struct RoundTimes {
  std::int32_t rows = 1;      ///< Verified rows, including the root's.
  std::int32_t steps = 0;     ///< Forward passes of a model's draft.
  std::int32_t drafter = -1;  ///< Drafter of the round; -1 = none.
  std::int64_t round_ns = 0;  ///< Time from its plan to the next one's.
  std::int64_t draft_ns = 0;
};

class RoundCosts {
 public:
  /// `step_costs`: expected cost of a draft step of each drafter, before one was measured.
  explicit RoundCosts(std::span<const double> step_costs);

  void add(const RoundTimes& round);
  /// Whether the next round should be a vanilla one, to measure its cost: two in a row from time to time.
  [[nodiscard]] bool wants_vanilla() const;
  /// Whether a vanilla round has been measured.
  [[nodiscard]] bool knows_vanilla() const { return !pace_.empty(); }
  /// Time of a vanilla round according to the latest rounds of all kinds; it lags by a few rounds.
  [[nodiscard]] double vanilla_ns() const { return pace_.value(); }
  /// Cost of a round of so many rows without its draft.
  [[nodiscard]] double verification(std::int32_t rows) const;
  [[nodiscard]] double draft_step(std::int32_t drafter) const;
  /// Optimistic cost of a verification: the lower of the measured and the initially expected one. Otherwise
  /// rounds that were slow for unrelated reasons would keep a draft from ever being measured again.
  [[nodiscard]] double hoped_verification(std::int32_t rows) const;
  [[nodiscard]] double hoped_step(std::int32_t drafter) const;
  /// Cost of the round according to the others.
  [[nodiscard]] double expected(const RoundTimes& round) const;

  /// Rounds after a round until its neighbours tell the time that a vanilla round took then.
  static constexpr std::size_t behind = 4;

 private:
  /// Rows up to each width share one cost per row beyond the first: the second row may cost more than the
  /// next ones, and kernels change at certain widths.
  static constexpr std::array<std::int32_t, 7> widths{2, 4, 8, 16, 32, 64, 1024};

  [[nodiscard]] bool is_at_another_pace(const RoundTimes& round, double vanilla_ns) const;
  void learn(const RoundTimes& round, double vanilla_ns);
  [[nodiscard]] static std::size_t width_of(std::int32_t rows);

  RecentMedian pace_;                  // ns per vanilla round
  std::vector<RecentMedian> per_row_;  // by width
  std::vector<double> known_;          // by width: certainty, as the squares of the measured rows
  std::vector<RecentMedian> steps_;
  std::vector<double> expected_steps_;
  double pair_ns_ = 0.0;           // the lower of the latest two vanilla rounds in a row; 0 = none yet
  double last_vanilla_ns_ = 0.0;   // time of the round before; 0 = it was not vanilla
  std::int32_t rounds_since_ = 0;  // rounds since that pair
  double time_since_ = 0.0;        // time since that pair, in vanilla rounds
  bool has_changed_ = false;       // whether the pace changed right after that pair
  bool changed_before_ = false;    // whether the pace changed right after the pair before
  double pace_before_ = 0.0;       // pace of the latest vanilla rounds, ns per vanilla round
  double interval_;                // time until the next pair, in vanilla rounds
};

}  // namespace draftscope::speculation
