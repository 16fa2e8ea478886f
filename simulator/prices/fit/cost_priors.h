// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Assumptions about parameters before a recording is read.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <vector>

#include "prices/fit/cost_observations.h"
#include "prices/fit/engine_law.h"
#include "prices/fit/robust_fit.h"

namespace draftscope::simulator {

/// Values of all parameters that a GPU's specification implies for layers of this number type: with library
/// kernels in the graph regime (§4 of the published kernel measurements), or by the law of an engine.
[[nodiscard]] CostVector specified_values(const GpuSpecification& gpu, WeightType weights,
                                          const EngineLaw* engine = nullptr);

/// Priors around specified_values().
[[nodiscard]] std::vector<GaussianPrior> gpu_priors(const GpuSpecification& gpu, WeightType weights,
                                                    const EngineLaw* engine = nullptr);

/// A number type of products on a GPU.
struct TypeOnGpu {
  const GpuSpecification& gpu;
  WeightType weights;
};

/// [parameter]: value there / value here, by the specifications.
[[nodiscard]] CostVector value_ratios(const TypeOnGpu& here, const TypeOnGpu& there, const EngineLaw* engine);

/// [parameter]: value of products of a type / those of another, on the model's GPU; 1 without one, where
/// bytes count as such.
[[nodiscard]] CostVector type_ratios(const CostModel& model, WeightType from, WeightType to);

/// Priors of an unspecified machine: the scale of the recording itself (time per weight byte), nearly flat.
[[nodiscard]] std::vector<GaussianPrior> scale_priors(const CostObservations& observations);

// Launch regimes of kernels on a GPU, which decide the overhead of a pass:
//     T = max(kernels + gaps between them, launches by the host) + host time of a pass.
// The numbers are priors: from published measurements (Python: LayerSkip-family code at 0.87–0.97 ms per
// layer, and 1.2–2.1 ms per pass), from measurements of graphs, and from experience for eager C++.

/// Times in nanoseconds. `sigma` is relative and applies to all of them together.
struct RegimeCosts {
  double gap_ns_per_kernel = 0.0;
  double host_ns_per_kernel = 0.0;
  double host_ns_per_layer = 0.0;
  double host_ns_per_pass = 0.0;
  double host_ns_per_draft_step = 0.0;  ///< Replaces host_ns_per_pass.
  double sigma = 0.0;
};

/// Costs of a regime; all zero for as_fitted, which adds no costs.
[[nodiscard]] RegimeCosts regime_costs(Regime regime);

}  // namespace draftscope::simulator
