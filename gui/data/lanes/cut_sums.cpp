// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut_sums.h"

#include <algorithm>

namespace draftscope::gui {

namespace {

void add(const BusyColumns::ByPhase& part, BusyColumns::ByPhase& into) {
  for (std::size_t phase = 0; phase < into.size(); ++phase) into[phase] += part[phase];
}

BusyPyramid::ByPhase difference(BusyPyramid::ByPhase of, const BusyPyramid::ByPhase& less) {
  for (std::size_t phase = 0; phase < of.size(); ++phase) of[phase] -= less[phase];
  return of;
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
  if (lane.columns.empty()) {
    left_out_.reserve(time.stretches().size());
    BusyPyramid::ByPhase shown{};
    for (const Stretch& stretch : time.stretches()) {
      left_out_.push_back(difference(lane.pyramid.until(lane.slices, stretch.time.start_ns), shown));
      shown = difference(lane.pyramid.until(lane.slices, stretch.time.end_ns), left_out_.back());
    }
    return;
  }
  before_.reserve(time.stretches().size() + 1);
  before_.emplace_back();
  for (const Stretch& stretch : time.stretches()) {
    BusyColumns::ByPhase sum = before_.back();
    add(lane.columns.summarise(stretch.time), sum);
    before_.push_back(sum);
  }
}

BusyPyramid::ByPhase CutSums::until(const Lane& lane, const CutTime& time, std::int64_t at_ns) const {
  if (left_out_.empty()) return {};
  const std::size_t index = std::min(time.first_ending_after(at_ns), left_out_.size() - 1);
  const Stretch& stretch = time.stretches()[index];
  const std::int64_t moment_ns =
      std::min(stretch.time.start_ns + std::max<std::int64_t>(at_ns - stretch.at_ns, 0), stretch.time.end_ns);
  return difference(lane.pyramid.until(lane.slices, moment_ns), left_out_[index]);
}

BusyColumns::ByPhase CutSums::summarise(const Lane& lane, const CutTime& time, TimeRange axis) const {
  BusyColumns::ByPhase sum{};
  if (lane.columns.empty()) {
    const BusyPyramid::ByPhase busy =
        difference(until(lane, time, axis.end_ns), until(lane, time, axis.start_ns));
    std::copy(busy.begin(), busy.end(), sum.begin());
    return sum;
  }
  const std::vector<Stretch>& stretches = time.stretches();
  std::size_t first = time.first_ending_after(axis.start_ns);
  std::size_t last = first;  // after the last that is shown
  if (axis.duration_ns() > 0) last = std::max(first, time.first_ending_after(axis.end_ns - 1));
  if (last < stretches.size() && stretches[last].at_ns < axis.end_ns) ++last;
  if (first >= last) return sum;
  if (stretches[first].at_ns < axis.start_ns || first + 1 == last)
    add(lane.columns.summarise(stretches[first].recorded(axis)), sum), ++first;
  if (first < last && stretches[last - 1].on_axis().end_ns > axis.end_ns)
    add(lane.columns.summarise(stretches[--last].recorded(axis)), sum);
  if (first < last)
    for (std::size_t phase = 0; phase < sum.size(); ++phase)
      sum[phase] += before_[last][phase] - before_[first][phase];
  return sum;
}

}  // namespace draftscope::gui
