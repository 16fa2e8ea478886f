// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The axis of the timeline in each of its modes, and the part of it that is shown. What is shown of the
// recording is the view state's, for all views together; where several runs stand beside one another the axis
// also goes on after the end of the run that other views show.

#include <vector>

#include "data/lanes/lane_groups.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

class ShownTime {
 public:
  /// Another recording (null for none), mode or run; `recorded` is the time that all views show.
  void set(const OpenedRecording* opened, TimelineMode mode, std::size_t run_index, TimeRange recorded);

  [[nodiscard]] TimelineMode mode() const { return mode_; }
  /// Axis of the lanes of a run; ShownGroup::no_run for those that all share.
  [[nodiscard]] const CutTime& of(std::size_t run_index) const;
  /// Axis that others' times are understood on: that of the run that is shown.
  [[nodiscard]] const CutTime& chosen() const { return of(run_); }
  /// Slots of the mode `aligned`.
  [[nodiscard]] const std::vector<AlignedTimes::Slot>& places() const { return aligned_.places; }
  /// Where times on the axis count from.
  [[nodiscard]] std::int64_t zero_ns() const { return zero_ns_; }

  /// Part of the axis that is shown; at least 100 ns.
  [[nodiscard]] TimeRange range() const { return range_; }
  /// All views show another time. What shows it already stays.
  void follow(TimeRange recorded);
  /// Shows a part of the axis, cut to where it has something. Returns the time for all views; if it has no
  /// length, the part holds nothing of the run that they show.
  TimeRange go_to(TimeRange axis);

 private:
  [[nodiscard]] TimeRange cut(TimeRange axis) const;

  TimelineMode mode_ = TimelineMode::all;
  const OpenedRecording* opened_ = nullptr;
  std::size_t run_ = 0;
  CutTime shared_;  ///< of all lanes, but where runs are aligned
  AlignedTimes aligned_;
  TimeRange whole_;
  std::int64_t zero_ns_ = 0;
  TimeRange range_{0, 100};
};

}  // namespace draftscope::gui
