// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What rounds cost, learnt from rounds: medians of the latest, so that one interrupted round says nothing.
// All but vanilla_ns() is in vanilla rounds, which every measure is taken relative to, so that a machine that
// slows down slows everything.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// The median of the latest values.
class RecentMedian {
 public:
  void add(double value);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Of an even number of values the lower of the two in the middle; there must be one.
  [[nodiscard]] double value() const { return median_; }

 private:
  std::array<double, 9> latest_{};
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
  /// Whether vanilla rounds have been measured often enough that others can be held against them.
  [[nodiscard]] bool knows_vanilla() const { return vanilla_.size() >= 2; }
  [[nodiscard]] double vanilla_ns() const { return vanilla_.value(); }
  /// A round without its draft, of so many rows: at least 1, and never less than one of fewer rows.
  [[nodiscard]] double verification(std::int32_t rows) const;
  [[nodiscard]] double draft_step(std::int32_t drafter) const;

  static constexpr std::int32_t max_rows = 64;  ///< wider rounds go on along the last slope

 private:
  RecentMedian vanilla_;                            // ns
  std::array<RecentMedian, max_rows + 1> by_rows_;  // those from 2 rows on
  std::vector<RecentMedian> steps_;
  std::vector<double> expected_steps_;
};

}  // namespace draftscope::speculation
