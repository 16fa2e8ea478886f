// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An axis that shows stretches of the recording's time and leaves out what lies between them. Within a
// stretch time runs as it was recorded, so that whatever lies in one is as long on the axis as it was.
//
// Immutable once built, free to read from several threads.

#include <algorithm>
#include <vector>

#include "data/opened_recording.h"
#include "lane_slices.h"

namespace draftscope::gui {

struct Stretch {
  TimeRange time;          ///< of the recording
  std::int64_t at_ns = 0;  ///< its beginning on the axis

  [[nodiscard]] TimeRange on_axis() const { return {at_ns, at_ns + time.duration_ns()}; }
  /// Time of it that a part of the axis shows; of no length if it shows none.
  [[nodiscard]] TimeRange recorded(TimeRange axis) const {
    const std::int64_t from = std::max(axis.start_ns, at_ns) - at_ns;
    const std::int64_t to = std::min(axis.end_ns, at_ns + time.duration_ns()) - at_ns;
    return {time.start_ns + from, time.start_ns + std::max(from, to)};
  }
};

class CutTime {
 public:
  /// Nothing is cut out: the axis is the recording's clock.
  CutTime();
  /// No two may overlap, neither in time nor on the axis; their orders may differ. Those of no length are
  /// dropped.
  explicit CutTime(std::vector<Stretch> stretches);

  /// In the order of the axis.
  [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }
  /// Index of the first stretch that ends after a place of the axis; their number if there is none.
  /// O(log stretches).
  [[nodiscard]] std::size_t first_ending_after(std::int64_t at_ns) const;
  /// From the first stretch to the end of the last; empty without any.
  [[nodiscard]] TimeRange whole() const;

  /// Whether a moment is shown. O(log stretches).
  [[nodiscard]] bool keeps(std::int64_t time_ns) const;

  // The others are O(stretches).

  /// The shortest part of the axis with all that is kept of a time; if nothing is, the place of no length
  /// where what is kept next begins.
  [[nodiscard]] TimeRange on_axis(TimeRange time) const;
  /// The shortest time with all that a part of the axis shows; if it shows nothing, of no length.
  [[nodiscard]] TimeRange recorded(TimeRange axis) const;
  /// The time at a place of the axis, or the nearest that is kept.
  [[nodiscard]] std::int64_t recorded_at(std::int64_t at_ns) const;
  /// Parts of a time that are kept, in the order of the axis.
  [[nodiscard]] std::vector<TimeRange> kept(TimeRange time) const;

 private:
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> by_time_;  ///< their indices in the order of time
};

/// The requests of a run, one after the other from 0. A request that was cut off ends with its last round;
/// those that overlap become one stretch.
[[nodiscard]] CutTime time_of_run(const OpenedRecording& opened, std::size_t run_index);

/// The runs beside one another: a slot for each prompt and repeat, as long as the slowest run took, in which
/// every run's request begins at the same place.
struct AlignedTimes {
  struct Slot {
    std::size_t request_index = 0;  ///< of one of its requests, into Recording::requests
    TimeRange on_axis;
  };
  std::vector<Slot> places;   ///< in the order of the axis: that in which they were recorded
  std::vector<CutTime> runs;  ///< by OpenedRecording::runs()
};
[[nodiscard]] AlignedTimes align_runs(const OpenedRecording& opened);

}  // namespace draftscope::gui
