// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which recorded runs say what a strategy would draft: those that draft with the same part of the model, or
// with the same other model, whatever lengths and stop rules they have.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// "exit 4", "clasp, skip 4": the part that drafts, with those of its parameters that change what it drafts.
/// Empty if nothing drafts by itself, token by token.
[[nodiscard]] std::string draft_key(const speculation::StrategySpecification& strategy);

/// Runs with rounds of the same draft_key(), in the order of `runs`.
[[nodiscard]] std::vector<const RunRows*> runs_of_draft(std::span<const RunRows> runs, const std::string& key,
                                                        std::int32_t n_layers);

}  // namespace draftscope::simulator
