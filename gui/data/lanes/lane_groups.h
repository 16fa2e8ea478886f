// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which lanes the timeline shows, and which of them stand together.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "data/opened_recording.h"
#include "timeline.h"

namespace draftscope::gui {

struct ShownGroup {
  enum class GroupKind : std::uint8_t { run, decisions, track, counter };
  static constexpr std::size_t no_run = std::numeric_limits<std::size_t>::max();

  GroupKind kind = GroupKind::track;
  std::string key;         ///< says which group it is, in other recordings, too
  std::string name;        ///< Name of the run (its specification), the track, the counter.
  std::string short_name;  ///< the part of it that tells it from others
  std::string track_kind;
  std::size_t run_index = no_run;  ///< OpenedRecording::runs(); of a run's group
  std::vector<std::size_t> lanes;  ///< Timeline::lanes, top to bottom
  std::size_t counter = 0;         ///< Timeline::counters, of a counter's group
};

/// Groups from the top down: those of runs, then what all runs share.
[[nodiscard]] std::vector<ShownGroup> shown_groups(const Timeline& timeline, const OpenedRecording& opened);

/// Lanes that stand for the group while it is collapsed: a run's rounds, the uppermost of a track.
[[nodiscard]] std::vector<std::size_t> collapsed_lanes(const Timeline& timeline, const ShownGroup& group);

/// Busy time of a lane, by its slices or, while those have not been read, by its columns. O(log slices).
[[nodiscard]] BusyColumns::ByPhase busy_time(const Lane& lane, TimeRange time);

/// Whether the lane has anything in a time. O(log slices).
[[nodiscard]] bool is_busy(const Lane& lane, TimeRange time);

}  // namespace draftscope::gui
