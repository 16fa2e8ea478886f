// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the page of the device shows of one question: the table, beside it that of a second run, gaps and use
// over time; and the durations of one name. A worker computes it from an immutable timeline.

#include <draftscope/simulator/analysis/device_table.h>
#include <map>
#include <optional>
#include <vector>

namespace draftscope::gui {

struct DeviceAsked {
  simulator::DeviceQuestion question;
  simulator::DeviceNames by = simulator::DeviceNames::operations;
  std::optional<std::uint32_t> other_run;  ///< Run to compare with, index into Recording::runs.

  friend bool operator==(const DeviceAsked& a, const DeviceAsked& b);
};

struct DeviceAnswer {
  DeviceAsked asked;
  simulator::DeviceSelection selection;
  simulator::DeviceTable table;
  std::vector<simulator::DeviceGap> gaps;
  std::vector<std::size_t> longest;  ///< Indices of the longest gaps.
  simulator::DurationHistogram gap_histogram;
  simulator::TimeWindow whole;  ///< From the first window's begin to the last one's end.
  std::vector<double> busy_shares;
  /// Rows of the other run by name; absent without another run.
  std::optional<std::map<std::uint32_t, simulator::DeviceRow>> other;
  std::optional<simulator::DeviceSelection> other_selection;
};
[[nodiscard]] DeviceAnswer answer_device(const simulator::DeviceTimeline& timeline,
                                         const traces::Recording& recording, const DeviceAsked& asked);

/// Open times of one name in a selection.
struct NamedDurations {
  std::vector<std::int64_t> ns;
  simulator::DurationHistogram histogram;
  std::vector<std::pair<std::int32_t, double>> by_layer;  ///< (layer, median), ordered; without layer -1.
  std::vector<double> by_round;  ///< Mean of each round that has some, in order of time.
};
[[nodiscard]] NamedDurations durations_of(const simulator::DeviceTimeline& timeline,
                                          const simulator::DeviceSelection& selection,
                                          simulator::DeviceNames by, std::uint32_t name);

}  // namespace draftscope::gui
