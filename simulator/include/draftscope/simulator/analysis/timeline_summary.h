// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the time of a timeline went that says nothing of runs: its host ranges and device activities by name.

#include <draftscope/base/result.h>
#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::traces {
class Reader;
}

namespace draftscope::simulator {

/// All ranges, or all device activities, of one name.
struct NamedTime {
  std::string name;
  std::int64_t count = 0;
  double ns = 0.0;  ///< Sum over the rows; of ranges without the ranges inside them.
};

struct TimelineSummary {
  std::int64_t start_ns = 0;  ///< Start of the first row.
  std::int64_t end_ns = 0;    ///< End of the last row.
  std::int64_t ranges = 0;
  std::int64_t device_activities = 0;
  std::int64_t device_busy_ns = 0;     ///< Time in which some activity ran; waits do not count.
  std::vector<NamedTime> by_range;     ///< By falling time, then by name.
  std::vector<NamedTime> by_activity;  ///< Likewise.
};

/// Reads all spans and device activities. O(n log n); memory: 16 bytes per device activity. Errors:
/// unreadable tables.
[[nodiscard]] Result<TimelineSummary> summarise_timeline(traces::Reader& reader);

}  // namespace draftscope::simulator
