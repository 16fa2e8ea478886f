// SPDX-License-Identifier: GPL-3.0-or-later
#include "busy_pyramid.h"

#include <algorithm>
#include <numeric>

namespace draftscope::gui {

namespace {

constexpr std::size_t busy_fan_out = 64;

std::size_t phase_index(const LaneSlices& slices, std::size_t index) {
  return static_cast<std::size_t>(slices.phase(index));
}

void note_longest(BusySummary& sum, std::size_t index, std::int64_t duration_ns) {
  if (duration_ns > sum.longest_ns) {
    sum.longest = index;
    sum.longest_ns = duration_ns;
  }
}

/// One slice, cut to the range.
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
  std::vector<Node>* below = nullptr;
  for (std::size_t count = slices.size() / busy_fan_out; count > 0; count /= busy_fan_out) {
    std::vector<Node> level(count);
    for (std::size_t i = 0; i < count; ++i) {
      Node& node = level[i];
      for (std::size_t j = i * busy_fan_out; j < (i + 1) * busy_fan_out; ++j) {
        if (below == nullptr) {
          const std::int64_t duration = slices.end_ns(j) - slices.start_ns(j);
          node.by_phase_ns[phase_index(slices, j)] += duration;
          if (duration > node.longest_ns) {
            node.longest = static_cast<std::uint32_t>(j);
            node.longest_ns = duration;
          }
          continue;
        }
        const Node& part = (*below)[j];
        for (std::size_t phase = 0; phase < part.by_phase_ns.size(); ++phase)
          node.by_phase_ns[phase] += part.by_phase_ns[phase];
        if (part.longest_ns > node.longest_ns) {
          node.longest = part.longest;
          node.longest_ns = part.longest_ns;
        }
      }
    }
    levels_.push_back(std::move(level));
    below = &levels_.back();
  }
}

void BusyPyramid::add_whole(const LaneSlices& slices, std::size_t first, std::size_t last,
                            BusySummary& sum) const {
  while (first < last) {
    // The largest node that begins here and ends in time.
    std::size_t level = 0;
    std::size_t width = 1;
    while (level < levels_.size() && first % (width * busy_fan_out) == 0 &&
           first + width * busy_fan_out <= last) {
      width *= busy_fan_out;
      ++level;
    }
    if (level == 0) {
      sum.by_phase_ns[phase_index(slices, first)] += slices.end_ns(first) - slices.start_ns(first);
      note_longest(sum, first, slices.end_ns(first) - slices.start_ns(first));
    } else {
      const Node& node = levels_[level - 1][first / width];
      for (std::size_t phase = 0; phase < node.by_phase_ns.size(); ++phase)
        sum.by_phase_ns[phase] += node.by_phase_ns[phase];
      note_longest(sum, node.longest, node.longest_ns);
    }
    sum.slices += width;
    first += width;
  }
}

BusySummary BusyPyramid::summarise(const LaneSlices& slices, TimeRange range) const {
  BusySummary sum;
  std::size_t first = slices.first_ending_after(range.start_ns);
  std::size_t last = slices.first_starting_at(range.end_ns);
  if (first >= last) return sum;
  if (slices.start_ns(first) < range.start_ns) add_slice(slices, first++, range, sum);
  if (first < last && slices.end_ns(last - 1) > range.end_ns) add_slice(slices, --last, range, sum);
  add_whole(slices, first, last, sum);
  return sum;
}

std::size_t BusyPyramid::bytes() const {
  std::size_t nodes = 0;
  for (const std::vector<Node>& level : levels_) nodes += level.capacity();
  return nodes * sizeof(Node);
}

}  // namespace draftscope::gui
