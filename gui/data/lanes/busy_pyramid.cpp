// SPDX-License-Identifier: GPL-3.0-or-later
#include "busy_pyramid.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/sum_pyramid.h"

namespace draftscope::gui {

namespace {

std::size_t phase_index(const LaneSlices& slices, std::size_t index) {
  return static_cast<std::size_t>(slices.phase(index));
}

void note_longest(BusySummary& sum, std::size_t index, std::int64_t duration_ns) {
  if (duration_ns > sum.longest_ns) {
    sum.longest = index;
    sum.longest_ns = duration_ns;
  }
}

/// Adds one slice, cut to the range.
void add_slice(const LaneSlices& slices, std::size_t index, TimeRange range, BusySummary& sum) {
  const std::int64_t start = std::max(slices.start_ns(index), range.start_ns);
  const std::int64_t end = std::min(slices.end_ns(index), range.end_ns);
  sum.by_phase_ns[phase_index(slices, index)] += std::max<std::int64_t>(end - start, 0);
  ++sum.slices;
  note_longest(sum, index, slices.end_ns(index) - slices.start_ns(index));
}

}  // namespace

std::int64_t BusySummary::busy_ns() const {
  return std::accumulate(by_phase_ns.begin(), by_phase_ns.end(), std::int64_t{0});
}

traces::Phase BusySummary::dominant() const {
  const auto most = std::max_element(by_phase_ns.begin(), by_phase_ns.end());
  return static_cast<traces::Phase>(most - by_phase_ns.begin());
}

BusyPyramid::BusyPyramid(const LaneSlices& slices) {
  const std::size_t blocks = (slices.size() + block - 1) / block;
  if (blocks == 0) return;
  starts_ns_.reserve(blocks + 1);
  before_.reserve(blocks + 1);
  std::vector<Longest> longest;
  longest.reserve(blocks);
  ByPhase sum{};
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (i % block == 0) {
      starts_ns_.push_back(slices.start_ns(i));
      before_.push_back(sum);
      longest.emplace_back();
    }
    const std::int64_t duration = slices.end_ns(i) - slices.start_ns(i);
    sum[phase_index(slices, i)] += duration;
    if (duration > longest.back().ns) longest.back() = {static_cast<std::uint32_t>(i), duration};
  }
  starts_ns_.push_back(slices.end_ns(slices.size() - 1));
  before_.push_back(sum);
  longest.resize(slices.size() / block);
  while (!longest.empty()) {
    std::vector<Longest> above(longest.size() / block);
    for (std::size_t i = 0; i < above.size() * block; ++i)
      if (longest[i].ns > above[i / block].ns) above[i / block] = longest[i];
    levels_.push_back(std::exchange(longest, std::move(above)));
  }
}

void BusyPyramid::add_whole(const LaneSlices& slices, std::size_t first, std::size_t last,
                            BusySummary& sum) const {
  const auto add_item = [&](std::size_t index) {
    const std::int64_t duration = slices.end_ns(index) - slices.start_ns(index);
    sum.by_phase_ns[phase_index(slices, index)] += duration;
    note_longest(sum, index, duration);
  };
  const auto add_node = [&](std::size_t level, std::size_t node) {
    note_longest(sum, levels_[level][node].index, levels_[level][node].ns);
  };
  visit_nodes(first, last, block, block, levels_.size(), add_item, add_node);
  sum.slices += last - first;
  const std::size_t from = (first + block - 1) / block;
  if (const std::size_t to = last / block; from < to)
    for (std::size_t phase = 0; phase < sum.by_phase_ns.size(); ++phase)
      sum.by_phase_ns[phase] += before_[to][phase] - before_[from][phase];
}

BusySummary BusyPyramid::summarise(const LaneSlices& slices, TimeRange range) const {
  return summarise(slices, range, slices.first_ending_after(range.start_ns));
}

BusySummary BusyPyramid::summarise(const LaneSlices& slices, TimeRange range, std::size_t first) const {
  BusySummary sum;
  std::size_t last = slices.first_starting_at(range.end_ns, first);
  if (first >= last) return sum;
  if (slices.start_ns(first) < range.start_ns) add_slice(slices, first++, range, sum);
  if (first < last && slices.end_ns(last - 1) > range.end_ns) add_slice(slices, --last, range, sum);
  add_whole(slices, first, last, sum);
  return sum;
}

std::size_t BusyPyramid::block_at(std::int64_t time_ns, std::size_t from) const {
  std::size_t low = from;
  std::size_t reach = 1;
  for (; from + reach < starts_ns_.size() && starts_ns_[from + reach] <= time_ns; reach *= 2)
    low = from + reach;
  const auto begin = starts_ns_.begin();
  const auto behind = std::upper_bound(
      begin + static_cast<std::ptrdiff_t>(low),
      begin + static_cast<std::ptrdiff_t>(std::min(from + reach, starts_ns_.size())), time_ns);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - begin, 1) - 1);
}

std::optional<BusySummary> BusyPyramid::from_afar(TimeRange range, std::size_t& near) const {
  constexpr std::size_t min_blocks = 8;
  if (starts_ns_.size() <= min_blocks) return std::nullopt;
  near = block_at(range.start_ns, near);
  if (near + min_blocks >= starts_ns_.size() || starts_ns_[near + min_blocks] > range.end_ns)
    return std::nullopt;
  const std::size_t last = block_at(range.end_ns, near);
  // Running sum by phase, interpolated at a time within a block.
  const auto sum_at = [this](std::int64_t time_ns, std::size_t in, std::size_t phase) {
    const std::int64_t start_ns = starts_ns_[in];
    if (in + 1 == starts_ns_.size() || time_ns <= start_ns) return static_cast<double>(before_[in][phase]);
    const double share =
        static_cast<double>(time_ns - start_ns) / static_cast<double>(starts_ns_[in + 1] - start_ns);
    return static_cast<double>(before_[in][phase]) +
           share * static_cast<double>(before_[in + 1][phase] - before_[in][phase]);
  };
  BusySummary sum;
  for (std::size_t phase = 0; phase < sum.by_phase_ns.size(); ++phase)
    sum.by_phase_ns[phase] =
        std::llround(sum_at(range.end_ns, last, phase) - sum_at(range.start_ns, near, phase));
  sum.slices = (last - near) * block;
  const std::size_t whole = std::min(last, levels_.front().size());
  visit_nodes(
      near + 1, whole, block, block, levels_.size() - 1,
      [&](std::size_t node) { note_longest(sum, levels_[0][node].index, levels_[0][node].ns); },
      [&](std::size_t level, std::size_t node) {
        note_longest(sum, levels_[level + 1][node].index, levels_[level + 1][node].ns);
      });
  return sum;
}

std::size_t BusyPyramid::bytes() const {
  std::size_t all = starts_ns_.capacity() * sizeof(starts_ns_[0]) + before_.capacity() * sizeof(ByPhase);
  for (const std::vector<Longest>& level : levels_) all += level.capacity() * sizeof(Longest);
  return all;
}

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
