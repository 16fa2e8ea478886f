// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where arithmetic, not the memory system, bounds a product from below.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <span>

#include "prices/costs/cost_parameters.h"

namespace draftscope::simulator {

/// Kernels' launches; what stays is the time of their work. A resident kernel has no launches of its own.
void drop_launches(CostCoefficients& part);

/// How much longer arithmetic takes than the memory, summed over a part's products. 0 without a GPU's
/// specification.
[[nodiscard]] double arithmetic_excess_ns(std::span<const speculation::Operation> products,
                                          const CostModel& model, const Scenario& scenario,
                                          const PassForm& form);

}  // namespace draftscope::simulator
