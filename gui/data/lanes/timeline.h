// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Everything that a recording's timeline shows, as lanes of slices with their level of detail: requests and
// rounds (one lane a run), then each track of the recording, nested spans in a lane of each depth. Immutable
// once read (load_recording.h).

#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string>
#include <vector>

#include "busy_columns.h"
#include "data/lanes/busy_pyramid.h"
#include "lane_slices.h"

namespace draftscope::gui {

enum class LaneKind : std::uint8_t { requests, rounds, decisions, track };

struct Lane {
  LaneKind kind = LaneKind::track;
  std::int64_t owner = 0;  ///< id of the run (requests, rounds) or of the track; 0 for decisions
  std::string name;        ///< Name of the lane's group: the run, or the track.
  std::string track_kind;  ///< "host", "stream", …; empty where it is no track's
  std::int32_t depth = 0;  ///< within the group, 0 at the top
  LaneSlices slices;
  BusyPyramid pyramid;
  BusyColumns columns;  ///< instead of slices, while those have not been read
};

struct CounterLane {
  std::string name;
  std::vector<std::int64_t> timestamp_ns;
  std::vector<double> value;
};

struct Timeline {
  TimeRange whole;
  std::vector<std::string> names;  ///< Names that slices refer to.
  std::vector<Lane> lanes;
  std::vector<CounterLane> counters;
  /// Which span launched a kernel: (kernel id, span id), ordered by the kernel's.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launches;

  [[nodiscard]] std::size_t slices() const;
  [[nodiscard]] std::size_t bytes() const;
};

/// Timeline of the recording's stored overview: lanes with columns instead of slices. `outline` may lack
/// rounds and draft tokens.
[[nodiscard]] Timeline overview_timeline(const traces::Recording& outline, const traces::Overview& overview);

}  // namespace draftscope::gui
