// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/same_draft.h"

#include <algorithm>
#include <string_view>

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

bool is_of_the_search(std::string_view mask, std::string_view parameter) {
  if (parameter == "weights") return false;
  if (mask == "clasp") return parameter != "skip";
  if (mask == "swift" || mask == "conflayers") return parameter != "ratio";
  return mask == "knapspec";
}

std::string draft_key(const StrategySpecification& strategy) {
  if (strategy.name() == "two-model") return "two-model, model " + strategy.text("model");
  if (!strategy.has_parts()) return {};
  const std::string& mask = strategy.part(PartKind::mask);
  const speculation::PartRow* const part = speculation::strategy_catalogue().find_part(PartKind::mask, mask);
  if (part == nullptr || mask == "del") return {};
  std::string key = mask;
  for (const ParameterRow& parameter : part->parameters)
    if (!is_of_the_search(mask, parameter.name) &&
        (parameter.name != "weights" || strategy.draft_weights().has_value()))
      key += (parameter.name == mask ? " " : ", " + parameter.name + " ") + strategy.text(parameter.name);
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
