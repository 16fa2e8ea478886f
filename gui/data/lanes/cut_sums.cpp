// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut_sums.h"

#include <algorithm>

namespace draftscope::gui {

namespace {

void add(const BusyColumns::ByPhase& part, BusyColumns::ByPhase& into) {
  for (std::size_t phase = 0; phase < into.size(); ++phase) into[phase] += part[phase];
}

BusyPyramid::ByPhase difference(BusyPyramid::ByPhase all, const BusyPyramid::ByPhase& part) {
  for (std::size_t phase = 0; phase < all.size(); ++phase) all[phase] -= part[phase];
  return all;
}

}  // namespace

BusyColumns::ByPhase busy_time(const Lane& lane, TimeRange time) {
  if (!lane.columns.empty()) return lane.columns.summarise(time);
  const BusySummary busy = lane.pyramid.summarise(lane.slices, time);
  BusyColumns::ByPhase by_phase{};
  std::copy(busy.by_phase_ns.begin(), busy.by_phase_ns.end(), by_phase.begin());
  return by_phase;
}

CutSums::CutSums(const Lane& lane, const CutTime& time) {
  before_.reserve(time.stretches().size() + 1);
  before_.emplace_back();
  for (const Stretch& stretch : time.stretches()) {
    BusyColumns::ByPhase sum = before_.back();
    add(busy_time(lane, stretch.time), sum);
    before_.push_back(sum);
  }
  if (!lane.columns.empty()) return;
  const BusyPyramid& pyramid = lane.pyramid;
  BusyPyramid::ByPhase sum{};
  for (const Stretch& stretch : time.stretches()) {
    const BusyPyramid::ByPhase start = pyramid.until(lane.slices, stretch.time.start_ns);
    const BusyPyramid::ByPhase end = pyramid.until(lane.slices, stretch.time.end_ns);
    before_in_pyramid_.push_back(difference(sum, start));
    sum = difference(sum, difference(start, end));
  }
  before_in_pyramid_.push_back(sum);
}

BusyColumns::ByPhase CutSums::summarise(const Lane& lane, const CutTime& time, TimeRange axis) const {
  BusyColumns::ByPhase sum{};
  const std::vector<Stretch>& stretches = time.stretches();
  std::size_t first = time.first_ending_after(axis.start_ns);
  std::size_t last = first;  // behind the last that is shown
  if (axis.duration_ns() > 0) last = std::max(first, time.first_ending_after(axis.end_ns - 1));
  if (last < stretches.size() && stretches[last].at_ns < axis.end_ns) ++last;
  if (first >= last) return sum;
  if (stretches[first].at_ns < axis.start_ns || first + 1 == last)
    add(busy_time(lane, stretches[first].recorded(axis)), sum), ++first;
  if (first < last && stretches[last - 1].on_axis().end_ns > axis.end_ns)
    add(busy_time(lane, stretches[--last].recorded(axis)), sum);
  if (first < last)
    for (std::size_t phase = 0; phase < sum.size(); ++phase)
      sum[phase] += before_[last][phase] - before_[first][phase];
  return sum;
}

BusyPyramid::ByPhase CutSums::until(const Lane& lane, const CutTime& time, std::int64_t at_ns) const {
  const std::size_t index = time.first_ending_after(at_ns);
  BusyPyramid::ByPhase sum = before_in_pyramid_[index];
  if (index == time.stretches().size()) return sum;
  const Stretch& stretch = time.stretches()[index];
  const std::int64_t moment_ns = stretch.time.start_ns + std::max<std::int64_t>(at_ns - stretch.at_ns, 0);
  return difference(sum, difference({}, lane.pyramid.until(lane.slices, moment_ns)));
}

}  // namespace draftscope::gui
