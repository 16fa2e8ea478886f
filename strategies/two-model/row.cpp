// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/catalogue/strategy_specification.h>

#include <algorithm>

#include "strategies/parts/rule.h"
#include "strategies/row.h"

namespace draftscope::speculation {

namespace {

std::optional<LengthRule> length_of_two(const StrategySpecification& strategy) {
  const std::int32_t gamma = strategy.integer("gamma");
  const std::string& schedule = strategy.text("schedule");
  if (schedule == "constant") return FixedLength(gamma);
  return HeuristicLength({.start = std::max(gamma, 1), .is_transient = schedule == "transient"});
}

std::optional<ThresholdRule> threshold_of_two(const StrategySpecification& strategy) {
  const double threshold = strategy.number("threshold");
  if (strategy.text("stop") == "roc") return RocThreshold(threshold);
  if (threshold > 0.0) return FixedThreshold(threshold);
  return std::nullopt;
}

}  // namespace

StrategyRows row_of_two_model() {
  return {.strategies = {
              {.name = "two-model",
               .summary = "another, smaller model with the same tokens drafts",
               .source = "Leviathan et al. 2023; Chen et al. 2023",
               .parameters = {text("model", "", "folder", "the draft's checkpoint, as --model takes it"),
                              integer("gamma", "5", "0", longest_draft, "tokens",
                                      "speculation length; transformers 5: 20"),
                              choice("schedule", "constant", {"constant", "heuristic", "transient"},
                                     "constant; heuristic: 2 longer after a full accept, else 1 shorter; "
                                     "transient: that, anew for each request"),
                              number("threshold", "0", "probability",
                                     "a draft token of lower confidence is the round's last; 0 = none; "
                                     "transformers 5: 0.4"),
                              choice("stop", "threshold", {"threshold", "roc"},
                                     "threshold: it stays; roc: it follows right and wrong draft tokens, as "
                                     "transformers has it with scikit-learn"),
                              acceptance_parameter()},
               .replay_needs = ReplayNeeds::impossible,
               .no_replay = "another model drafts; its run lengths need a draft from every start of the text",
               .drafts_with_other_model = true,
               .length_rule = length_of_two,
               .threshold_rule = threshold_of_two}}};
}

}  // namespace draftscope::speculation
