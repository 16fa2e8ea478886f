// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The measured figures of a recording, run by run. Everything here can be recomputed from the rows of the
// file; tests do so. Speedups are against vanilla decoding by the same engine in the same recording, or
// absent.

#include <draftscope/simulator/figures/acceptance.h>
#include <draftscope/simulator/figures/device_time.h>
#include <draftscope/simulator/figures/draft_cost.h>
#include <draftscope/simulator/figures/loaded_layers.h>
#include <draftscope/simulator/figures/phase_breakdown.h>
#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/simulator/figures/speedup.h>
#include <draftscope/simulator/figures/throughput.h>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Where the breakdown comes from.
enum class BreakdownSource : std::uint8_t {
  none,    ///< neither spans nor consistent round times
  spans,   ///< phase spans (phase_breakdown.h)
  rounds,  ///< the times in the round rows; prefill is everything before the first token
};

struct RunBreakdown {
  BreakdownSource source = BreakdownSource::none;
  Breakdown by_phase{};  ///< adds up to the wall time of the run's requests, exactly
};

struct Figures {
  const traces::Run* run = nullptr;
  std::string category;  ///< empty = all
  Throughput throughput;
  Acceptance acceptance;
  LoadedLayers layers;
  DraftCost cost;
  RunBreakdown breakdown;
  DeviceTime device;                       ///< no rounds where the device was not recorded
  std::optional<Speedup> speedup;          ///< absent without a baseline, and for the baseline itself
  std::optional<OutputIdentity> identity;  ///< against the baseline; absent likewise
};

struct RunFigures {
  Figures all;
  std::vector<Figures> by_category;
};

struct RecordingFigures {
  const traces::Run* baseline = nullptr;  ///< null if the file has none with finished requests
  std::vector<RunFigures> runs;           ///< in the recording's order
};

/// `recording` must outlive the result. O(rows · log rows), plus the bootstrap's 2000 passes over the
/// prompts.
[[nodiscard]] RecordingFigures measure(const traces::Recording& recording,
                                       std::span<const traces::Span> phase_spans = {},
                                       std::span<const DeviceInterval> device_intervals = {});

[[nodiscard]] RunBreakdown run_breakdown(const RunRows& run);

}  // namespace draftscope::simulator
