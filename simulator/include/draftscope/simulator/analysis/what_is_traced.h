// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the way of recording a device means for the figures. All functions are thread-safe.

#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/traces/reader.h>
#include <cstddef>
#include <optional>
#include <string>

namespace draftscope::simulator {

/// One sentence about what recording the device changed, from meta's `device_trace`; empty where it changed
/// no figure that is known.
[[nodiscard]] std::string what_is_traced(const traces::Meta& meta);

/// How the device's work was launched, in a few words, from meta's `launches` or an older `device_trace`;
/// empty where it is not known.
[[nodiscard]] std::string how_launched(const traces::Meta& meta);

/// Measured cost of the finer one of two device traces.
struct TracingCost {
  bool is_of_comparison = false;  ///< Whether the comparison has the finer trace, else the baseline.
  double factor = 1.0;            ///< Time of its rounds over that of the same rounds of the other.
  double lowest = 1.0;            ///< Least factor of a run, as `highest` is the greatest.
  double highest = 1.0;
  std::size_t runs = 0;    ///< Runs of one setting in both.
  std::size_t rounds = 0;  ///< Rounds that were compared: those of one index, request and run.
  std::string sentence;
};

/// Absent unless both recordings are of one model, program, machine and way of launching, their device traces
/// are of different detail, and they share rounds. O(rounds).
[[nodiscard]] std::optional<TracingCost> tracing_cost(Baseline<traces::Recording> baseline,
                                                      Comparison<traces::Recording> comparison);

}  // namespace draftscope::simulator
