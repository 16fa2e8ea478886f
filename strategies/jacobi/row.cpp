// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_jacobi() {
  return {.strategies = {
              {.name = "jacobi",
               .summary = "verifies a block of guesses; what it predicts is the next block",
               .source = "Santilli et al. 2023, Parallel Decoding, algorithm 2",
               .parameters = {integer("block", "3", "1", longest_draft, "tokens", "guesses a round"),
                              choice("rule", "prefix", {"prefix", "published"},
                                     "prefix: keep every guess up to the first that is not the target's; "
                                     "published: keep one token a round until a round changes nothing in the "
                                     "block, which one more round then verifies as a whole")},
               .replay_needs = ReplayNeeds::impossible,
               .no_replay = follows_from_earlier_guesses,
               .draft = guesses()}}};
}

}  // namespace draftscope::speculation
