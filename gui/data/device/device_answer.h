// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the page of the device shows of one question: the table, beside it a second run of this recording or
// of another, gaps and use over time; and the durations of one name. A worker computes it from immutable
// timelines.

#include <draftscope/simulator/analysis/device_table.h>
#include <memory>
#include <optional>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct DeviceAsked {
  simulator::DeviceQuestion question;
  simulator::DeviceNames by = simulator::DeviceNames::operations;
};

/// A run to compare with, and what its recording's device did.
struct OtherDevice {
  RecordingPointer recording;
  std::shared_ptr<const simulator::DeviceTimeline> timeline;  ///< Empty without times of a device.
  std::uint32_t run = 0;                                      ///< Index into Recording::runs.
};

/// Both runs by output token.
struct DeviceBeside {
  OtherDevice other;
  simulator::DeviceSelection selection;  ///< The other run's.
  simulator::TokenTimes here;
  simulator::TokenTimes there;
  std::vector<simulator::ComparedTime> names;  ///< `first` is here.
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
  std::optional<DeviceBeside> beside;  ///< Absent without another run.
};
[[nodiscard]] DeviceAnswer answer_device(const simulator::DeviceTimeline& timeline,
                                         const traces::Recording& recording, const DeviceAsked& asked,
                                         const std::optional<OtherDevice>& other = {});

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
