// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Assumptions about parameters before a recording is read.

#include <draftscope/simulator/analysis/gpu.h>
#include <vector>

#include "prices/costs/cost_observations.h"
#include "prices/costs/robust_fit.h"

namespace draftscope::simulator {

/// Values of all parameters that a GPU's specification implies for layers of this number type.
[[nodiscard]] CostVector specified_values(const GpuSpecification& gpu, WeightType weights);

/// From the specification, in the graph regime: §4 of the published kernel measurements.
[[nodiscard]] std::vector<GaussianPrior> gpu_priors(const GpuSpecification& gpu, WeightType weights);

/// Priors of a machine nobody specified: the recording's own scale (time a weight byte), nearly flat.
[[nodiscard]] std::vector<GaussianPrior> scale_priors(const CostObservations& observations);

}  // namespace draftscope::simulator
