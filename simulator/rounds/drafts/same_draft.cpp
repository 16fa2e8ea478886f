// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/same_draft.h"

#include <algorithm>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

using speculation::ParameterRow;
using speculation::PartKind;
using speculation::StrategySpecification;

bool has_draft(const RunRows& run) {
  return std::ranges::any_of(run.requests, [](const RequestRows& rows) {
    return std::ranges::any_of(rows.rounds, [](const traces::Round& round) { return round.drafted > 0; });
  });
}

}  // namespace

std::string draft_key(const StrategySpecification& strategy) {
  if (speculation::strategy_row(strategy.name()).drafts_with_other_model)
    return strategy.name() + ", model " + strategy.text("model");
  const speculation::PartRow* const mask = strategy.part_row(PartKind::mask);
  if (mask == nullptr || mask->layers == speculation::MaskLayers::below_chosen_exit) return {};
  std::string key = mask->name;
  for (const ParameterRow& parameter : mask->parameters)
    if (!parameter.is_of_search && (parameter.name != "weights" || strategy.draft_weights().has_value()))
      key +=
          (parameter.name == mask->name ? " " : ", " + parameter.name + " ") + strategy.text(parameter.name);
  return key;
}

std::vector<const RunRows*> runs_of_draft(std::span<const RunRows> runs, const std::string& key,
                                          std::int32_t n_layers) {
  std::vector<const RunRows*> found;
  for (const RunRows& run : runs) {
    if (run.run->is_baseline || !has_draft(run)) continue;
    const auto specification = run_specification(*run.run, n_layers);
    if (specification && draft_key(*specification) == key) found.push_back(&run);
  }
  return found;
}

}  // namespace draftscope::simulator
