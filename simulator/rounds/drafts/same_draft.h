// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recorded runs whose drafts predict those of a strategy. They draft with the same part of the model, or with
// the same other model, with any lengths and stop rules.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Key such as "exit 4" or "clasp, skip 4": the part that drafts, with those of its parameters that change
/// its draft tokens. Empty if no part drafts independently, token by token.
[[nodiscard]] std::string draft_key(const speculation::StrategySpecification& strategy);

/// Runs with rounds of the same draft_key(), in order of `runs`.
[[nodiscard]] std::vector<const RunRows*> runs_of_draft(std::span<const RunRows> runs, const std::string& key,
                                                        std::int32_t n_layers);

}  // namespace draftscope::simulator
