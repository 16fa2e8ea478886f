// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the wall time of rounds went as the device saw it. A round that launched work on the device is cut
// into
//   busy   some kernel, copy, memory set or graph of the round ran
//   gap    none ran, between the round's first and its last
//   host   before the first and after the last: the host alone
// so that busy + gap + host = wall time, exactly, in integers. What contradicts the picture is not hidden in
// it: `outside` is device time of the round's work beyond the round's own times, which is 0 where the clocks
// agree and every round waits for its work.

#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/traces/reader.h>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// One activity of the device.
struct DeviceInterval {
  std::int64_t round = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  traces::Phase phase = traces::Phase::control;
};

struct DeviceTime {
  std::int64_t rounds = 0;      ///< that launched work which was recorded; the rest counts for nothing here
  std::int64_t activities = 0;  ///< of theirs
  std::int64_t wall_ns = 0;
  std::int64_t busy_ns = 0;
  std::int64_t gap_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t outside_ns = 0;
  /// busy_ns by phase; where activities of two phases overlap, the one that began first.
  std::array<std::int64_t, traces::phase_count> busy_by_phase{};
};

/// Activities on tracks of kind "stream" that belong to a round, ordered by round and start.
[[nodiscard]] Result<std::vector<DeviceInterval>> read_device_intervals(traces::Reader& reader,
                                                                        const traces::Recording& recording);

/// `intervals` as read_device_intervals() gives them. O(rounds · log intervals + intervals).
[[nodiscard]] DeviceTime device_time(const RunRows& run, std::span<const DeviceInterval> intervals);

}  // namespace draftscope::simulator
