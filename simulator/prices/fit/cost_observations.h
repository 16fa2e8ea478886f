// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Costs as observed in a trace. Groups of equal things (an operation, a layer, a draft, a target pass, the
// rest of a round; equal rows, contexts within 64 rows of one another) have the mean of their uninterrupted
// times. Passes are also grouped by kind only. A time far above the median counts as interrupted.
// Interruptions are counted separately, since they hit long and short passes alike, in proportion to their
// time. On a busy machine interruptions up to the longest usual pass stay in the means of passes, since long
// passes hide them.
//
// Operations come from kernels on a GPU, summed over a round's launches, and from spans of level "ops" on a
// CPU; layers come from spans of level "layers". Passes and rounds are in every trace. Left out are the first
// 20 rounds of a longer recording, operations of rounds with token trees, and those of verifications above an
// exit (whose rows differ by layer) or launched for more rows. Verifications that are launched for more rows
// than they have (EngineLaw::launches_as_planned) are groups of their own, and no kinds of passes. Target
// steps between drafts replace those of vanilla decoding only where none was recorded.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "prices/fit/pass_times.h"

namespace draftscope::simulator {

enum class CostLevel : std::uint8_t { operation, layer, pass, round };

struct CostObservation {
  CostLevel level = CostLevel::pass;
  CostVector coefficients{};  ///< Coefficients at the mean context of the passes in `ns`.
  double ns = 0.0;            ///< Mean, without interruptions.
  double samples = 0.0;
  double relative_error = 0.0;  ///< Standard error of `ns` / `ns`, from the scatter of the times.
};

struct CostObservations {
  ModelShape shape;
  WeightType weights = WeightType::bf16;
  WidthLaw width_law = WidthLaw::ramp;
  bool on_gpu = false;
  bool launches_as_planned = false;  ///< As in CostModel.
  std::vector<CostObservation> groups;
  std::vector<MeasuredPass> passes;
  std::vector<MeasuredRun> runs;  ///< Runs in order of run_id.
  /// Sums over all rounds that were used, for the conservation test.
  double total_wall_ns = 0.0;     ///< Time without the search for better parameters.
  double interruptions_ns = 0.0;  ///< Part of total_wall_ns that passes and rounds have beyond their means.
  /// Share of the time of all runs' rounds that interruptions took (analysis/explain/interruptions.h).
  double interrupted_share = 0.0;
  std::int64_t rounds = 0;
  std::int64_t drafting_rounds = 0;
  std::int32_t largest_rows = 0;
  double largest_context = 0.0;
};

/// `go_on` is called from time to time. Errors: meta without shape or dtype, no usable round, `go_on`
/// returned false.
[[nodiscard]] Result<CostObservations> read_cost_observations(traces::Reader& reader,
                                                              const traces::Recording& recording,
                                                              const std::function<bool()>& go_on = {});

/// Fits a cost model. `gpu` is the recorded GPU, and `engine` the law of the engine on it (null = this
/// version's); its values become priors, or those of `expected`. Errors: no groups, or times that are not
/// positive.
[[nodiscard]] Result<CostFit> fit_cost_model(const CostObservations& observations,
                                             const std::optional<GpuSpecification>& gpu = {},
                                             const EngineLaw* engine = nullptr,
                                             const EngineLaw* expected = nullptr);

}  // namespace draftscope::simulator
