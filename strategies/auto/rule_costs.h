// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What rounds cost, learnt from rounds. A machine that slows down slows every round, so all costs are in
// vanilla rounds, and every round tells how long one takes now. Costs themselves are learnt just behind
// vanilla rounds alone, against which they are held. All are medians of the latest: an interrupted round says
// nothing.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// The account that keeps decoding from being slower than vanilla: each round adds the vanilla rounds that
/// its tokens would have taken, less what it took. What may be lost is a share of all that vanilla decoding
/// would have taken, and `opening` vanilla rounds; so the whole takes at most (1 + share) times vanilla's
/// time plus these, whatever the text does, provided that the vanilla round is known.
class TimeAccount {
 public:
  struct Options {
    double share = 0.02;     ///< of vanilla's time that may be lost
    double opening = 2.0;    ///< vanilla rounds that may be lost beside it
    double max_gain = 16.0;  ///< vanilla rounds: gains beyond are not kept for later losses
  };
  explicit TimeAccount(const Options& options) : options_(options) {}

  /// A round that emitted `tokens` in the time of `rounds` vanilla rounds.
  void add(double tokens, double rounds) {
    vanilla_ += tokens;
    balance_ = std::min(balance_ + tokens - rounds, options_.max_gain - options_.share * vanilla_);
  }
  /// Vanilla rounds that may be lost from here on.
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
  /// The lower of the two in the middle of an even number of values; there must be one.
  [[nodiscard]] double value() const { return median_; }

 private:
  std::vector<double> latest_;
  std::vector<double> reordered_;
  std::size_t count_ = 0;  // of them
  std::size_t next_ = 0;   // that is written over
  double median_ = 0.0;
};

/// One round's times.
struct RoundTimes {
  std::int32_t rows = 1;      ///< that were verified, the root's included
  std::int32_t steps = 0;     ///< forwards of a draft by the model
  std::int32_t drafter = -1;  ///< that drafted them; -1 = none
  std::int64_t round_ns = 0;  ///< from its plan to the next one's
  std::int64_t draft_ns = 0;
};

class RoundCosts {
 public:
  /// `step_costs`: of each drafter, what a draft step is expected to cost before one was measured.
  explicit RoundCosts(std::span<const double> step_costs);

  void add(const RoundTimes& round);
  /// Whether the next round should be a vanilla one, for what it costs: two after the other from time to
  /// time.
  [[nodiscard]] bool wants_vanilla() const;
  /// Whether a vanilla round has been measured.
  [[nodiscard]] bool knows_vanilla() const { return !pace_.empty(); }
  /// Time of a vanilla round by the latest rounds of all kinds: about that of `behind` rounds ago.
  [[nodiscard]] double vanilla_ns() const { return pace_.value(); }
  /// A round without its draft, of so many rows.
  [[nodiscard]] double verification(std::int32_t rows) const;
  [[nodiscard]] double draft_step(std::int32_t drafter) const;
  /// The same at best: as measured or as expected before that, whichever is less. Rounds that were slow for
  /// reasons of their own would else keep a draft from ever being measured again.
  [[nodiscard]] double hoped_verification(std::int32_t rows) const;
  [[nodiscard]] double hoped_step(std::int32_t drafter) const;
  /// Cost of the round by the others.
  [[nodiscard]] double expected(const RoundTimes& round) const;

  /// Rounds behind one until those around it tell what a vanilla round took then.
  static constexpr std::size_t behind = 4;

 private:
  /// Rows up to each width are taken together, with one cost per row beyond the first: the second row may
  /// cost more than the next ones, and kernels change at widths.
  static constexpr std::array<std::int32_t, 7> widths{2, 4, 8, 16, 32, 64, 1024};

  [[nodiscard]] bool is_at_another_pace(const RoundTimes& round, double vanilla_ns) const;
  void learn(const RoundTimes& round, double vanilla_ns);
  [[nodiscard]] static std::size_t width_of(std::int32_t rows);

  RecentMedian pace_;                  // ns per vanilla round
  std::vector<RecentMedian> per_row_;  // by width
  std::vector<double> known_;          // by width: how well, as the squares of rows that told it
  std::vector<RecentMedian> steps_;
  std::vector<double> expected_steps_;
  double pair_ns_ = 0.0;           // the lower of the latest two vanilla rounds in a row; 0 = none yet
  double last_vanilla_ns_ = 0.0;   // of the round before; 0 = it was none
  std::int32_t rounds_since_ = 0;  // that pair
  double time_since_ = 0.0;        // that pair, in vanilla rounds
  bool has_changed_ = false;       // the pace, right behind that pair
  bool changed_before_ = false;    // and right behind the one before
  double pace_before_ = 0.0;       // the latest vanilla rounds, ns per vanilla round
  double interval_;                // until the next one, likewise
};

}  // namespace draftscope::speculation
