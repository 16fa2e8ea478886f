// SPDX-License-Identifier: GPL-3.0-or-later
#include "busy_columns.h"

#include <algorithm>

namespace draftscope::gui {

void BusyColumns::add(std::int64_t start_ns, traces::Phase phase, std::int64_t busy_ns) {
  if (start_ns_.empty() || start_ns_.back() != start_ns) {
    start_ns_.push_back(start_ns);
    busy_ns_.emplace_back();
  }
  busy_ns_.back()[static_cast<std::size_t>(phase)] += static_cast<float>(busy_ns);
}

TimeRange BusyColumns::whole() const {
  if (empty()) return {};
  return {start_ns_.front(), start_ns_.back() + column_ns_};
}

BusyColumns::ByPhase BusyColumns::summarise(TimeRange range) const {
  ByPhase sum{};
  const auto first =
      std::upper_bound(start_ns_.begin(), start_ns_.end(), range.start_ns - column_ns_) - start_ns_.begin();
  for (auto i = static_cast<std::size_t>(first); i < start_ns_.size() && start_ns_[i] < range.end_ns; ++i) {
    const std::int64_t from = std::max(start_ns_[i], range.start_ns);
    const std::int64_t to = std::min(start_ns_[i] + column_ns_, range.end_ns);
    if (to <= from) continue;
    const double share = static_cast<double>(to - from) / static_cast<double>(column_ns_);
    for (std::size_t phase = 0; phase < sum.size(); ++phase)
      sum[phase] += share * static_cast<double>(busy_ns_[i][phase]);
  }
  return sum;
}

std::size_t BusyColumns::bytes() const {
  return start_ns_.capacity() * sizeof(std::int64_t) + busy_ns_.capacity() * sizeof(busy_ns_[0]);
}

}  // namespace draftscope::gui
