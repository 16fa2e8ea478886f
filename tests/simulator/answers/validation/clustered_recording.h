// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings of a known population: requests from synthetic_requests.h, times from its prices, with noise.

#include <draftscope/simulator/prices/prices.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <filesystem>

namespace draftscope::simulator {

struct ClusteredOptions {
  int requests = 40;
  int repeats = 1;
  bool second_run = false;  ///< Adds a run with γ = 2 at the same exit to vanilla and γ = 4.
  double noise = 0.03;      ///< Standard deviation of the logarithm of each time.
};

/// A recording of vanilla and "layerskip:exit=3,gamma=4" with a model of 12 layers; prompts alternate between
/// the categories "even" and "odd". Deterministic in the seed.
[[nodiscard]] traces::Recording clustered_recording(std::uint64_t seed, const ClusteredOptions& options = {});

/// Writes through the trace writer. The file must be writable.
void write_recording(const traces::Recording& recording, const std::filesystem::path& path);

}  // namespace draftscope::simulator
