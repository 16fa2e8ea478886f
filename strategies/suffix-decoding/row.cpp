// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_suffix_decoding() {
  return {
      .strategies = {
          {.name = "suffix-decoding",
           .summary =
               "guesses what followed the longest ends of the text most often, the longer the end the more",
           .source = "Oliaro et al. 2025, SuffixDecoding; defaults of its public code. Hu et al. 2024, SAM "
                     "Decoding",
           .parameters =
               {ParameterRow{.name = "alpha",
                             .default_value = "1",
                             .unit = "tokens per token",
                             .meaning = "α: guesses a token of the end that matches",
                             .type = ParameterType::number,
                             .min = "0",
                             .max = "16"},
                integer("length", "24", "1", longest_draft, "tokens", "guesses a round, at most"),
                number("min-probability", "0.1", "probability",
                       "of a guess, by counts: the product of its tokens' shares of what followed"),
                integer("depth", "24", "1", "64", "tokens", "the longest end of the text that is looked up"),
                choice("shape", "chain", {"chain", "tree"},
                       "chain: the most frequent continuation; tree: several, by falling probability"),
                choice("across", "requests", {"requests", "no"},
                       "requests: the outputs of earlier requests are looked through, too; no: the request's "
                       "own text alone"),
                integer("memory", "65536", "1024", max_rounds, "tokens",
                        "of earlier outputs that are kept; when they are full, the older half goes")},
           .replay_needs = ReplayNeeds::texts,
           .no_replay = follows_from_the_text,
           .draft = guesses()}}};
}

}  // namespace draftscope::speculation
