// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether a recording with device work adds up: in every round, time in which kernels ran, gaps between them
// and time of the host alone are the round's wall time; every kernel has its operation and its layer; and
// nothing was lost on the way. For recordings of strategies whose rounds the device runs by itself, and of
// vanilla.

#include <draftscope/base/result.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::profiler {

struct DeviceConservation {
  std::int64_t rounds = 0;
  std::int64_t activities =
      0;  ///< kernels, copies, memory sets of the rounds, and graphs of older recordings
  std::int64_t wall_ns = 0;
  // Parts by the device's own times, which the round's host times do not bound.
  std::int64_t busy_ns = 0;         ///< some activity of the round ran
  std::int64_t gap_ns = 0;          ///< none ran, between the first and the last
  std::int64_t host_ns = 0;         ///< before the first and after the last, where they lie within the round
  double worst_share = 0.0;         ///< |busy + gap + host − wall| / wall of the worst round
  std::vector<std::string> broken;  ///< a line a broken rule
};

/// How far a round's parts may be from its wall time.
inline constexpr double max_missing_share = 0.01;

/// Fails if the file is no recording that can be read.
[[nodiscard]] Result<DeviceConservation> device_conservation(const std::filesystem::path& trace);

}  // namespace draftscope::profiler
