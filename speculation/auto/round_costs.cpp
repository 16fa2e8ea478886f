// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/round_costs.h>

#include <algorithm>

namespace draftscope::speculation {

namespace {

/// Cost of one more row before it was measured: about what processors and GPUs show below 16 rows.
constexpr double expected_per_row = 0.03;

constexpr double vanilla_interval = 96.0;          // vanilla rounds of time
constexpr std::size_t costs_window = 31;           // rounds
constexpr std::int32_t rounds_behind_vanilla = 8;  // in which costs are learnt

}  // namespace

void RecentMedian::add(double value) {
  latest_[next_] = value;
  next_ = (next_ + 1) % latest_.size();
  count_ = std::min(count_ + 1, latest_.size());
  const auto count = static_cast<std::ptrdiff_t>(count_);
  sorted_.assign(latest_.begin(), latest_.begin() + count);
  const auto middle = sorted_.begin() + (count - 1) / 2;
  std::nth_element(sorted_.begin(), middle, sorted_.end());
  median_ = *middle;
}

RoundCosts::RoundCosts(std::span<const double> step_costs)
    : pace_(2 * behind + 1),
      per_row_(widths.size(), RecentMedian(costs_window)),
      steps_(step_costs.size(), RecentMedian(costs_window)),
      expected_steps_(step_costs.begin(), step_costs.end()) {}

std::size_t RoundCosts::width_of(std::int32_t rows) {
  const auto found = std::lower_bound(widths.begin(), widths.end() - 1, rows);
  return static_cast<std::size_t>(found - widths.begin());
}

bool RoundCosts::wants_vanilla() const {
  return pair_ns_ <= 0.0 || time_since_ > vanilla_interval;
}

void RoundCosts::add(const RoundTimes& round) {
  const auto round_ns = static_cast<double>(round.round_ns);
  if (round.rows == 1 && round.steps == 0) {
    pace_.add(round_ns);
    if (last_vanilla_ns_ > 0.0) {
      // An interruption only adds to a time.
      pair_ns_ = std::min(last_vanilla_ns_, round_ns);
      rounds_since_ = 0;
      time_since_ = 0.0;
    }
    last_vanilla_ns_ = round_ns;
    return;
  }
  last_vanilla_ns_ = 0.0;
  if (pace_.empty()) return;
  const auto draft_ns = static_cast<double>(round.draft_ns);
  if (pair_ns_ > 0.0 && ++rounds_since_ <= rounds_behind_vanilla) {
    if (round.rows > 1)
      per_row_[width_of(round.rows)].add(((round_ns - draft_ns) / pair_ns_ - 1.0) / (round.rows - 1));
    if (round.drafter >= 0 && round.steps > 0)
      steps_[static_cast<std::size_t>(round.drafter)].add(draft_ns / round.steps / pair_ns_);
  }
  const double cost = expected(round);
  pace_.add(round_ns / cost);
  time_since_ += cost;
}

double RoundCosts::verification(std::int32_t rows) const {
  // Of the widths that were measured the nearest narrower one, else the next wider one.
  const std::size_t width = width_of(rows);
  double per_row = expected_per_row;
  for (std::size_t i = widths.size(); i-- > 0;)
    if (!per_row_[i].empty()) {
      per_row = per_row_[i].value();
      if (i <= width) break;
    }
  return 1.0 + std::max(per_row, 0.0) * (rows - 1);
}

double RoundCosts::expected(const RoundTimes& round) const {
  return verification(round.rows) + (round.drafter < 0 ? 0.0 : round.steps * draft_step(round.drafter));
}

double RoundCosts::draft_step(std::int32_t drafter) const {
  const auto i = static_cast<std::size_t>(drafter);
  return steps_[i].empty() ? expected_steps_[i] : steps_[i].value();
}

}  // namespace draftscope::speculation
