// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_lookahead() {
  return {
      .strategies = {
          {.name = "lookahead",
           .summary = "guesses n-grams that a window of parallel guesses ahead of the text has produced",
           .source = "Fu et al. 2024, Lookahead Decoding, algorithm 2; defaults of its public code's README",
           .parameters =
               {integer("window", "7", "1", longest_draft, "tokens",
                        "W: columns of the window, which takes (ngram - 1) * window rows of the 1024 that a "
                        "verification may have; the public code's own defaults are window 60, ngram 8, "
                        "guesses 60"),
                integer(
                    "ngram", "5", "3", "64", "tokens",
                    "N: a guess is N - 1 tokens; when all are accepted the round adds the target's own token "
                    "too, which the public code does not"),
                integer("guesses", "7", "1", longest_draft, "n-grams",
                        "G: kept for each token and guessed after it, the latest first"),
                choice("pool-from-prompt", "no", {"no", "yes"},
                       "yes: the n-grams of prompt and output are guessed too")},
           .replay_needs = ReplayNeeds::impossible,
           .no_replay = follows_from_earlier_guesses,
           .draft = guesses()}}};
}

}  // namespace draftscope::speculation
