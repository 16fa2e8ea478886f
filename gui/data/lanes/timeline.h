// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The content of a recording's timeline, as lanes of slices with their level of detail: requests and rounds
// (one lane per run), then each track of the recording, with nested spans in one lane per depth. Immutable
// once read (load_recording.h).

#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string>
#include <vector>

#include "data/lanes/busy_pyramid.h"
#include "lane_slices.h"

namespace draftscope::gui {

enum class LaneKind : std::uint8_t { requests, rounds, decisions, track };

struct Lane {
  LaneKind kind = LaneKind::track;
  std::int64_t owner = 0;  ///< Id of the run (requests, rounds) or of the track; 0 for decisions.
  std::string name;        ///< Name of the lane's group: the run, or the track.
  std::string track_kind;  ///< "host", "stream", …; empty = not a track's
  std::int32_t depth = 0;  ///< Depth within the group, 0 at the top.
  LaneSlices slices;
  BusyPyramid pyramid;
  BusyColumns columns;  ///< Used instead of slices until they are read.
};

/// Whether the lanes of its track are rows of what a device did at the same time, and not depths of nested
/// slices.
[[nodiscard]] bool is_side_by_side(const Lane& lane);

struct CounterLane {
  std::string name;
  std::vector<std::int64_t> timestamp_ns;
  std::vector<double> value;
};

struct Timeline {
  TimeRange whole;
  std::vector<std::string> names;  ///< Names that slices refer to, shortened.
  std::vector<std::string>
      whole_names;  ///< By `names`, as they were recorded; empty if no name was shortened.
  std::vector<Lane> lanes;
  std::vector<CounterLane> counters;
  /// (kernel id, id of the span that launched it), ordered by kernel id.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launches;

  [[nodiscard]] std::size_t slices() const;
  [[nodiscard]] std::size_t bytes() const;
};

/// Timeline of the recording's stored overview: lanes with columns instead of slices. `outline` may lack
/// rounds and draft tokens.
[[nodiscard]] Timeline overview_timeline(const traces::Recording& outline, const traces::Overview& overview);

}  // namespace draftscope::gui
