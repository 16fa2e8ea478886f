// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_token_recycling() {
  return {
      .strategies = {
          {.name = "token-recycling",
           .summary = "guesses a tree of the tokens that the target thought likely after each token before",
           .source = "Luo et al. 2025, Token Recycling",
           .parameters =
               {integer("successors", "8", "1", "16", "tokens",
                        "k: kept after each token of the vocabulary, the target's best there last time"),
                integer("nodes", "80", "1", longest_draft, "tokens",
                        "guesses a round: the likeliest of a tree whose r-th child (from 1) is right with "
                        "probability r^-1.75 / 2"),
                integer("depth", "6", "1", "64", "tokens", "of the tree"),
                choice(
                    "across", "requests", {"requests", "no"},
                    "requests: what is kept goes on from request to request; no: each starts with nothing")},
           .replay_needs = ReplayNeeds::impossible,
           .no_replay =
               "its guesses are the target's best tokens after every verified row, rejected ones included, "
               "of which texts and recorded trees show a part",
           .draft = guesses()}}};
}

}  // namespace draftscope::speculation
