// SPDX-License-Identifier: GPL-3.0-or-later
#include "shown_time.h"

#include <algorithm>
#include <cstdlib>

namespace draftscope::gui {

namespace {

/// As the view state has it.
constexpr std::int64_t shortest_ns = 100;

/// But for what a range is cut by, or widened to.
bool is_about(const TimeRange& a, const TimeRange& b) {
  return std::abs(a.start_ns - b.start_ns) <= shortest_ns && std::abs(a.end_ns - b.end_ns) <= shortest_ns;
}

}  // namespace

void ShownTime::set(const OpenedRecording* opened, TimelineMode mode, std::size_t run_index,
                    TimeRange recorded) {
  // The slots of aligned runs stay where they are while another of the runs is chosen.
  const bool is_same_axis = opened == opened_ && mode == mode_ && mode == TimelineMode::aligned;
  opened_ = opened;
  mode_ = mode;
  run_ = run_index;
  if (!is_same_axis) {
    shared_ = {};
    aligned_ = {};
    whole_ = opened == nullptr ? TimeRange{} : opened->whole();
    if (opened != nullptr && mode == TimelineMode::run) {
      shared_ = time_of_run(*opened, run_index);
      whole_ = shared_.whole();
    } else if (opened != nullptr && mode == TimelineMode::aligned) {
      aligned_ = align_runs(*opened);
      whole_ = aligned_.places.empty() ? TimeRange{} : TimeRange{0, aligned_.places.back().on_axis.end_ns};
    }
    zero_ns_ = whole_.start_ns;
    range_ = opened != nullptr && recorded == opened->whole() ? cut(whole_) : cut(chosen().on_axis(recorded));
  }
  follow(recorded);
}

const CutTime& ShownTime::of(std::size_t run_index) const {
  return mode_ == TimelineMode::aligned && run_index < aligned_.runs.size() ? aligned_.runs[run_index]
                                                                            : shared_;
}

TimeRange ShownTime::cut(TimeRange axis) const {
  if (mode_ == TimelineMode::all) return axis;
  const std::int64_t longest = std::max(whole_.duration_ns(), shortest_ns);
  const std::int64_t duration = std::clamp(axis.duration_ns(), shortest_ns, longest);
  const std::int64_t latest = std::max(whole_.start_ns, whole_.end_ns - duration);
  const std::int64_t start = std::clamp(axis.start_ns, whole_.start_ns, latest);
  return {start, start + duration};
}

void ShownTime::follow(TimeRange recorded) {
  if (mode_ == TimelineMode::aligned && opened_ != nullptr && recorded == opened_->whole() &&
      !is_about(chosen().recorded(range_), recorded)) {
    range_ = whole_;
    return;
  }
  if (mode_ == TimelineMode::aligned && is_about(chosen().recorded(range_), recorded)) return;
  const TimeRange wanted = chosen().on_axis(recorded);
  // Another run's time, while its run is not chosen yet.
  if (mode_ == TimelineMode::aligned && wanted.duration_ns() == 0) return;
  range_ = cut(wanted);
}

TimeRange ShownTime::go_to(TimeRange axis) {
  if (mode_ == TimelineMode::all) return axis;
  range_ = cut(axis);
  return chosen().recorded(range_);
}

}  // namespace draftscope::gui
