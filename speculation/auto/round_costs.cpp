// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/round_costs.h>

#include <algorithm>

namespace draftscope::speculation {

namespace {

/// Cost of one more row where no wider round was measured: about what processors and GPUs show below 16 rows.
constexpr double expected_slope = 0.03;

}  // namespace

void RecentMedian::add(double value) {
  latest_[next_] = value;
  next_ = (next_ + 1) % latest_.size();
  count_ = std::min(count_ + 1, latest_.size());
  std::array<double, 9> sorted = latest_;
  const auto middle = static_cast<std::ptrdiff_t>((count_ - 1) / 2);
  std::nth_element(sorted.begin(), sorted.begin() + middle,
                   sorted.begin() + static_cast<std::ptrdiff_t>(count_));
  median_ = sorted[static_cast<std::size_t>(middle)];
}

RoundCosts::RoundCosts(std::span<const double> step_costs)
    : steps_(step_costs.size()), expected_steps_(step_costs.begin(), step_costs.end()) {}

void RoundCosts::add(const RoundTimes& round) {
  const auto rest_ns = static_cast<double>(round.round_ns - round.draft_ns);
  if (round.rows == 1 && round.steps == 0) {
    vanilla_.add(rest_ns);
    return;
  }
  if (vanilla_.empty() || vanilla_.value() <= 0.0) return;
  const double vanilla_ns = vanilla_.value();
  if (round.rows <= max_rows) by_rows_[static_cast<std::size_t>(round.rows)].add(rest_ns / vanilla_ns);
  if (round.drafter >= 0 && round.steps > 0)
    steps_[static_cast<std::size_t>(round.drafter)].add(static_cast<double>(round.draft_ns) / round.steps /
                                                        vanilla_ns);
}

double RoundCosts::verification(std::int32_t rows) const {
  double cost = 1.0;
  std::int32_t at = 1;
  const std::int32_t measured = std::min(rows, max_rows);
  for (std::int32_t known = 2; known <= measured; ++known)
    if (const RecentMedian& median = by_rows_[static_cast<std::size_t>(known)]; !median.empty()) {
      cost = std::max(cost, median.value());
      at = known;
    }
  if (at == rows) return cost;
  for (std::int32_t wider = measured + 1; wider <= max_rows; ++wider)
    if (const RecentMedian& median = by_rows_[static_cast<std::size_t>(wider)]; !median.empty()) {
      const double share = static_cast<double>(rows - at) / static_cast<double>(wider - at);
      return cost + share * std::max(median.value() - cost, 0.0);
    }
  return cost + expected_slope * static_cast<double>(rows - at);
}

double RoundCosts::draft_step(std::int32_t drafter) const {
  const auto i = static_cast<std::size_t>(drafter);
  return steps_[i].empty() ? expected_steps_[i] : steps_[i].value();
}

}  // namespace draftscope::speculation
