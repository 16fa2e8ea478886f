// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks whether a recording with device work adds up. In every round, kernel time, gaps between kernels and
// host-only time must sum to the round's wall time. Every kernel must have its operation and its layer, and
// nothing may be lost on the way. It applies to vanilla and to strategies whose rounds the device runs by
// itself.

#include <draftscope/base/result.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::profiler {

struct DeviceConservation {
  std::int64_t rounds = 0;
  std::int64_t activities = 0;  ///< Kernels, copies and memory sets of the rounds.
  std::int64_t wall_ns = 0;
  // The parts below use the device's own times, which the round's host times do not bound.
  std::int64_t busy_ns = 0;  ///< Time in which some activity of the round ran.
  std::int64_t gap_ns = 0;   ///< Time in which none ran, between the first and the last.
  std::int64_t host_ns = 0;  ///< Time before the first and after the last, where these lie within the round.
  double worst_share = 0.0;  ///< |busy + gap + host − wall| / wall of the worst round.
  std::vector<std::string> broken;  ///< One line per broken rule.
};

/// Maximum difference between a round's parts and its wall time, as a share of the latter.
inline constexpr double max_missing_share = 0.01;

/// Checks a file. Fails if it is no readable recording.
[[nodiscard]] Result<DeviceConservation> device_conservation(const std::filesystem::path& trace);

}  // namespace draftscope::profiler
