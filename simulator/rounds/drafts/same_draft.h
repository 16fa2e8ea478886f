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

/// The row of a part's parameter, or of a strategy's own; an empty one if there is none.
[[nodiscard]] speculation::ParameterRow parameter_row(const speculation::StrategySpecification& strategy,
                                                      const std::string& parameter);

/// A parameter whose values differ, as text.
struct ParameterDifference {
  std::string name, asked, recorded;
};
/// Parameters of `asked` that have another value in `recorded`, or none, in order of their names.
[[nodiscard]] std::vector<ParameterDifference> parameter_differences(
    const speculation::StrategySpecification& asked, const speculation::StrategySpecification& recorded);

/// Whether both decode by the same rules, whatever they are called. `draws`: whether tokens are drawn, so
/// that parameters of draws matter.
[[nodiscard]] bool decodes_alike(const speculation::StrategySpecification& asked,
                                 const speculation::StrategySpecification& recorded, bool draws);

/// Runs with rounds of the same draft_key(), in order of `runs`.
[[nodiscard]] std::vector<const RunRows*> runs_of_draft(std::span<const RunRows> runs, const std::string& key,
                                                        std::int32_t n_layers);

}  // namespace draftscope::simulator
