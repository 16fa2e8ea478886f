// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_mix() {
  return {.strategies = {
              {.name = "mix",
               .summary = "any parts of the others together, with those parts' parameters; beside mask=exit, "
                          "del's length and stop are those of that exit; beside another mask, those of the "
                          "exit that del would choose, learnt up to each round's first rejected draft token",
               .parts = {"exit", "fixed", "none", "chain"},
               .chooses_parts = true}}};
}

}  // namespace draftscope::speculation
