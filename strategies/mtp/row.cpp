// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/catalogue/strategy_specification.h>

#include "strategies/parts/rule.h"
#include "strategies/row.h"

namespace draftscope::speculation {

namespace {

std::optional<LengthRule> length_of_mtp(const StrategySpecification& strategy) {
  return FixedLength(strategy.integer("gamma"));
}

std::optional<ThresholdRule> threshold_of_mtp(const StrategySpecification& strategy) {
  const double threshold = strategy.number("threshold");
  if (threshold > 0.0) return FixedThreshold(threshold);
  return std::nullopt;
}

}  // namespace

StrategyRows row_of_mtp() {
  return {.strategies = {
              {.name = "mtp",
               .summary = "the checkpoint's own next-token layer drafts (multi-token prediction)",
               .source = "DeepSeek-V3, arXiv:2412.19437, section 2.2; MiMo-7B, arXiv:2505.07608",
               .parameters = {integer("gamma", "2", "0", longest_draft, "tokens",
                                      "speculation length; after the first token the layer goes on from its "
                                      "own state"),
                              number("threshold", "0", "probability",
                                     "a draft token of lower confidence is the round's last; 0 = none"),
                              acceptance_parameter()},
               .replay_needs = ReplayNeeds::impossible,
               .no_replay = "its layer drafts from states of the target, which are not recorded",
               .drafts_with_other_model = true,
               .draft = {"its own next-token layer", {}},
               .length_rule = length_of_mtp,
               .threshold_rule = threshold_of_mtp}}};
}

}  // namespace draftscope::speculation
