// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Costs as a trace shows them: groups of like things (an operation, a layer, a draft, a target pass, the rest
// of a round; equal rows, contexts within 64 rows of one another) with the mean of the times that nothing
// interrupted, and passes once more by kind alone. What took more than three times the median was
// interrupted; interruptions are kept apart, since they befall long and short passes alike, by their time.
//
// Operations come from kernels on a GPU, summed over a round's launches, and from spans of level "ops" on a
// CPU, layers from spans of level "layers"; passes and rounds are in every trace. Left out: the first 20
// rounds of a longer recording, operations of rounds with token trees and
// of verifications above an exit (whose rows differ by layer). Target steps between drafts stand in for
// vanilla decoding's only where none was recorded.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "prices/fit/pass_times.h"

namespace draftscope::simulator {

enum class CostLevel : std::uint8_t { operation, layer, pass, round };

struct CostObservation {
  CostLevel level = CostLevel::pass;
  CostVector coefficients{};  ///< at the mean context of what `ns` is of
  double ns = 0.0;            ///< mean, without interruptions
  double samples = 0.0;
  double relative_error = 0.0;  ///< standard error of `ns` / `ns`, as far as the times' scatter tells
};

struct CostObservations {
  ModelShape shape;
  WeightType weights = WeightType::bf16;
  WidthLaw width_law = WidthLaw::ramp;
  bool on_gpu = false;
  std::vector<CostObservation> groups;
  std::vector<MeasuredPass> passes;
  std::vector<MeasuredRun> runs;  ///< in the order of run_id
  /// Sums over all rounds that were used, for the test of conservation.
  double total_wall_ns = 0.0;     ///< without the search for better parameters
  double interruptions_ns = 0.0;  ///< in that
  std::int64_t rounds = 0;
  std::int64_t drafting_rounds = 0;
  std::int32_t largest_rows = 0;
  double largest_context = 0.0;
};

/// `use` chooses runs; an empty function takes all. `go_on` is asked now and then. Errors: meta without shape
/// or dtype, no usable round, `go_on` says no.
[[nodiscard]] Result<CostObservations> read_cost_observations(
    traces::Reader& reader, const traces::Recording& recording,
    const std::function<bool(const traces::Run&)>& use = {}, const std::function<bool()>& go_on = {});

/// `gpu` is what the recording was made on; its numbers become priors. Errors: no groups, or times that are
/// not positive.
[[nodiscard]] Result<CostFit> fit_cost_model(const CostObservations& observations,
                                             const std::optional<GpuSpecification>& gpu = {});

}  // namespace draftscope::simulator
