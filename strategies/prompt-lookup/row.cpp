// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_prompt_lookup() {
  return {
      .strategies = {
          {.name = "prompt-lookup",
           .summary = "guesses that what followed the last tokens before, in prompt or output, follows again",
           .source = "Saxena 2023, Prompt Lookup Decoding; transformers, PromptLookupCandidateGenerator",
           .parameters =
               {integer("ngram", "3", "1", "16", "tokens",
                        "the longest end of the text that is looked up; transformers: 2"),
                integer("smallest-ngram", "1", "1", "ngram", "tokens",
                        "the shortest, tried when no longer one is found"),
                integer("length", "10", "1", longest_draft, "tokens", "guesses a round"),
                choice("match", "leftmost", {"leftmost", "latest", "longest"},
                       "which occurrence of an n-gram: leftmost, latest, or longest: the leftmost of the "
                       "longest end of the text, of smallest-ngram tokens or more, that occurred before, "
                       "whatever ngram says"),
                choice("reading", "published", {"published", "transformers"},
                       "published: only continuations of the full length, and token 100 as the one guess "
                       "where nothing matches; transformers: shorter continuations too, ended before an "
                       "end-of-text token, and no guess where nothing matches")},
           .replay_needs = ReplayNeeds::texts,
           .no_replay = follows_from_the_text,
           .draft = guesses()}}};
}

}  // namespace draftscope::speculation
