// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_tuned() {
  return {.strategies = {{.name = "tuned",
                          .summary = "the setting that draftscope tune found for this model",
                          .parameters = {text("policy", "", "file", "what draftscope tune wrote")},
                          .has_guard = false,
                          .replay_needs = ReplayNeeds::impossible,
                          .no_replay = "found a policy file, expected the strategy that it names",
                          .names_another = true}}};
}

}  // namespace draftscope::speculation
