// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What an imported recording can't tell `simulate`, told by the options: the model, and the GPU whose
// specification prices it.

#include <draftscope/simulator/cost_model.h>
#include <draftscope/traces/reader.h>
#include <optional>

#include "simulate_machines.h"

namespace draftscope::cli {

/// Absent for a recording of the project's own. Errors: a timeline, which has no accepted lengths; no --gpu;
/// a model that neither --model nor the file names.
[[nodiscard]] Result<std::optional<simulator::CostModel>> specified_costs(const SimulateOptions& options,
                                                                          const traces::Recording& recording);

}  // namespace draftscope::cli
