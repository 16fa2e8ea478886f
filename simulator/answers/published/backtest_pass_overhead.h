// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The affine "h" model: a pass through n layers takes n + h layer times, where h is what every pass pays
// once, whatever its depth (head, embedding, sampling, host), in layers. With γ draft steps through E layers,
// a verification through L and M tokens per round
//     S = M·(L + h) / (γ·(E + h) + L + h)
// which is L · TPL at h = 0 and falls towards M / (γ + 1) as h grows, strictly where E < L. One h a model
// explains what layer counting over-promises. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <cstdint>
#include <span>

namespace draftscope::simulator {

/// Rounds of one model on one task with fixed E and γ, and the speedup measured over vanilla decoding.
struct FixedLengthCell {
  std::int32_t n_layers = 0;          ///< L
  std::int32_t exit_layer = 0;        ///< E, 1 … L − 1
  std::int32_t gamma = 0;             ///< from 1
  double mean_accepted_length = 0.0;  ///< M, 1 … γ + 1; may exceed both a little where it comes from rounded
                                      ///< figures
  double speedup = 0.0;  ///< measured; above 0
};

/// S of the cell at `pass_overhead_layers` = h ≥ 0; its measured speedup is not used.
[[nodiscard]] Result<double> pass_overhead_speedup(const FixedLengthCell& cell, double pass_overhead_layers);

/// The h that minimises Σ (ln S(h) − ln measured)² over the cells, h ≥ 0. Errors: no cells; a cell outside
/// its domain; a cell whose speedup is at most M / (γ + 1), which no h explains.
[[nodiscard]] Result<double> fit_pass_overhead(std::span<const FixedLengthCell> cells);

}  // namespace draftscope::simulator
