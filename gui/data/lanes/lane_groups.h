// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The lanes that the timeline shows, in groups that stand together.

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
  std::string key;         ///< Identifies the group, across recordings too.
  std::string name;        ///< Name of the run (its specification), the track, the counter.
  std::string short_name;  ///< Part of the name that tells it from others.
  std::string track_kind;
  std::size_t run_index = no_run;  ///< Index into OpenedRecording::runs(); for a run's group.
  std::vector<std::size_t> lanes;  ///< Indices into Timeline::lanes, top to bottom.
  std::size_t counter = 0;         ///< Index into Timeline::counters; for a counter's group.
};

/// Groups from top to bottom: groups of runs, then the groups that all runs share. Where a device was
/// recorded, the host and the device stand above the runs.
[[nodiscard]] std::vector<ShownGroup> shown_groups(const Timeline& timeline, const OpenedRecording& opened);

/// Lanes that stand for the group while it is collapsed: a run's rounds, or the top lane of a track.
[[nodiscard]] std::vector<std::size_t> collapsed_lanes(const Timeline& timeline, const ShownGroup& group);

/// Busy time of a lane, from its slices or, until they are read, from its columns. O(log slices).
[[nodiscard]] BusyColumns::ByPhase busy_time(const Lane& lane, TimeRange time);

/// Whether the lane is busy at any time within the range. O(log slices).
[[nodiscard]] bool is_busy(const Lane& lane, TimeRange time);

/// Shortens each strategy's specification to the part that tells it from the others: the strategy's name and,
/// for several specifications of one strategy, the parameters that not all of them have
/// ("layerskip:exit=3,gamma=2" beside "layerskip:exit=7,gamma=2" is "layerskip exit=3"). Names that differ
/// stay different.
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string>& specifications);

}  // namespace draftscope::gui
