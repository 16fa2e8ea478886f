// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_vanilla() {
  return {.strategies = {{.name = "vanilla",
                          .summary = "one target forward a token; the baseline",
                          .source = "autoregressive decoding",
                          .has_guard = false,
                          .replay_needs = ReplayNeeds::texts,
                          .is_baseline = true}}};
}

}  // namespace draftscope::speculation
