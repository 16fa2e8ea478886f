// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/rule_costs.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftscope::speculation {

namespace {

/// Cost of one more row before it was measured, about what processors and GPUs show below 16 rows.
constexpr double expected_per_row = 0.03;

/// Confidence in that cost, as the square of rows whose measurement would be as informative. A round's time
/// is off by a few hundredths, and so are costs per row.
constexpr double unsure_of_row = 2.0;

// Time in vanilla rounds from one pair to the next. It grows each time the pair confirms the expectation.
constexpr double min_vanilla_interval = 96.0;
constexpr double max_vanilla_interval = 192.0;
// Relative deviation of a vanilla round's time that counts as unchanged.
constexpr double expected_drift = 0.025;

constexpr std::size_t costs_window = 9;  // rounds: about those after one pair
constexpr int expected_rows_count = 2;   // weight of the expected cost of a row, in rounds
constexpr int expected_step_count = 1;   // weight of the expected cost of a draft step, in rounds
// Number of costs, including the expected ones, from which the measured ones dominate.
constexpr std::size_t told_from = 5;
constexpr std::int32_t rounds_behind_vanilla = 8;  // rounds after a vanilla one in which costs are learnt
constexpr double another_pace = 1.5;               // factor on the time of vanilla rounds

/// Expected costs before one was measured; one slow round does not outweigh them.
RecentMedian costs_before(double expected, int count) {
  RecentMedian costs(costs_window);
  for (int i = 0; i < count; ++i) costs.add(expected);
  return costs;
}

void add_cost(double cost, double expected, int count, RecentMedian& costs) {
  // An interruption only adds time, so a cost that was far above expectation and has fallen was never real.
  if (costs.value() > 2.0 * expected && cost < costs.value() / 2.0) costs = costs_before(expected, count);
  costs.add(cost);
}

}  // namespace

void RecentMedian::add(double value) {
  latest_[next_] = value;
  next_ = (next_ + 1) % latest_.size();
  count_ = std::min(count_ + 1, latest_.size());
  reordered_.assign(latest_.begin(), latest_.begin() + static_cast<std::ptrdiff_t>(count_));
  median_ = lower_median(reordered_);
}

RoundCosts::RoundCosts(std::span<const double> step_costs)
    : pace_(2 * behind + 1),
      per_row_(widths.size(), RecentMedian(costs_window)),
      known_(widths.size()),
      steps_(step_costs.size(), RecentMedian(costs_window)),
      expected_steps_(step_costs.begin(), step_costs.end()),
      interval_(min_vanilla_interval) {
  for (RecentMedian& per_row : per_row_) per_row = costs_before(expected_per_row, expected_rows_count);
  for (std::size_t drafter = 0; drafter < steps_.size(); ++drafter)
    steps_[drafter] = costs_before(expected_steps_[drafter], expected_step_count);
}

/// Whether draft and verification both took the times of a machine with another pace.
bool RoundCosts::is_at_another_pace(const RoundTimes& round, double vanilla_ns) const {
  if (round.drafter < 0 || round.steps == 0) return false;
  if (steps_[static_cast<std::size_t>(round.drafter)].count() < told_from) return false;
  const auto draft_ns = static_cast<double>(round.draft_ns);
  const double by_draft = draft_ns / (round.steps * draft_step(round.drafter) * vanilla_ns);
  const double by_rest =
      (static_cast<double>(round.round_ns) - draft_ns) / (verification(round.rows) * vanilla_ns);
  return std::min(by_draft, by_rest) > another_pace || std::max(by_draft, by_rest) < 1.0 / another_pace;
}

void RoundCosts::learn(const RoundTimes& round, double vanilla_ns) {
  // Costs would be wrong by the same factor, and a drafter might not be tried again for long. If this holds
  // from the first round after two pairs, the costs themselves have changed.
  if (is_at_another_pace(round, vanilla_ns) && !changed_before_) {
    has_changed_ = has_changed_ || rounds_since_ == 1;
    return;
  }
  const auto draft_ns = static_cast<double>(round.draft_ns);
  const double rest_ns = static_cast<double>(round.round_ns) - draft_ns;
  if (round.rows > 1) {
    const std::size_t width = width_of(round.rows);
    add_cost((rest_ns / vanilla_ns - 1.0) / (round.rows - 1), expected_per_row, expected_rows_count,
             per_row_[width]);
    known_[width] += static_cast<double>(round.rows - 1) * (round.rows - 1);
  }
  if (round.drafter < 0 || round.steps == 0) return;
  const auto drafter = static_cast<std::size_t>(round.drafter);
  add_cost(draft_ns / round.steps / vanilla_ns, expected_steps_[drafter], expected_step_count,
           steps_[drafter]);
}

std::size_t RoundCosts::width_of(std::int32_t rows) {
  const auto found = std::lower_bound(widths.begin(), widths.end() - 1, rows);
  return static_cast<std::size_t>(found - widths.begin());
}

bool RoundCosts::wants_vanilla() const {
  return pair_ns_ <= 0.0 || time_since_ > interval_;
}

void RoundCosts::add(const RoundTimes& round) {
  const auto round_ns = static_cast<double>(round.round_ns);
  if (round.rows == 1 && round.steps == 0) {
    if (last_vanilla_ns_ <= 0.0 && !pace_.empty()) pace_before_ = pace_.value();
    pace_.add(round_ns);
    if (last_vanilla_ns_ > 0.0) {
      // An interruption only adds time.
      pair_ns_ = std::min(last_vanilla_ns_, round_ns);
      if (time_since_ > interval_)
        interval_ = std::abs(pace_before_ / pair_ns_ - 1.0) > expected_drift
                        ? min_vanilla_interval
                        : std::min(2.0 * interval_, max_vanilla_interval);
      rounds_since_ = 0;
      changed_before_ = std::exchange(has_changed_, false);
      time_since_ = 0.0;
    }
    last_vanilla_ns_ = round_ns;
    return;
  }
  const double vanilla_before = std::exchange(last_vanilla_ns_, 0.0);
  if (pace_.empty()) return;
  if (pair_ns_ > 0.0 && ++rounds_since_ <= rounds_behind_vanilla)
    learn(round, pair_ns_);
  else if (vanilla_before > 0.0)
    learn(round, vanilla_before);
  else if (round.drafter >= 0 && steps_[static_cast<std::size_t>(round.drafter)].count() < told_from)
    learn(round, pace_.value());
  const double cost = expected(round);
  pace_.add(round_ns / cost);
  time_since_ += cost;
}

double RoundCosts::verification(std::int32_t rows) const {
  // Adds up the costs by width: the expected difference to the narrower widths, shifted by the measurements.
  double cost = 1.0;
  std::int32_t narrower = 1;
  for (std::size_t i = 0; i < widths.size() && narrower < rows; ++i) {
    const std::int32_t here = std::min(rows, widths[i]);
    double beyond = expected_per_row;
    for (std::size_t wider = widths.size() - 1; wider > i; --wider)
      if (known_[wider] > 0.0) beyond = per_row_[wider].value();
    const double expected = cost + beyond * (here - narrower);
    const double measured = 1.0 + per_row_[i].value() * (here - 1);
    cost = std::max(cost, (known_[i] * measured + unsure_of_row * expected) / (known_[i] + unsure_of_row));
    narrower = here;
  }
  return cost;
}

double RoundCosts::expected(const RoundTimes& round) const {
  return verification(round.rows) + (round.drafter < 0 ? 0.0 : round.steps * draft_step(round.drafter));
}

double RoundCosts::draft_step(std::int32_t drafter) const {
  return steps_[static_cast<std::size_t>(drafter)].value();
}

double RoundCosts::hoped_verification(std::int32_t rows) const {
  return std::min(verification(rows), 1.0 + expected_per_row * (rows - 1));
}

double RoundCosts::hoped_step(std::int32_t drafter) const {
  return std::min(draft_step(drafter), expected_steps_[static_cast<std::size_t>(drafter)]);
}

}  // namespace draftscope::speculation
