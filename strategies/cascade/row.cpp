// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_cascade() {
  return {
      .strategies = {
          {.name = "cascade",
           .summary = "drafters of several strengths, parts of the target, and guesses from the text make "
                      "one tree in "
                      "turn; "
                      "each step is the one that is expected to bring most for its time",
           .source =
               "Ning et al. 2025, CAS-Spec: DyTC's objective and estimates; see strategies/cascade/page.md",
           .parameters =
               {text("levels", "0.4+0.6", "",
                     "the drafters: shares of whole layers that are left out, early exits as exit-8, weights "
                     "as "
                     "q4_0, "
                     "or 0.4/q4_0; none = the text alone"),
                integer("gamma", "12", "1", "63", "tokens", "depth of the draft, at most"),
                integer("nodes", "32", "1", longest_draft, "tokens", "a draft of so many is not extended"),
                integer("step-length", "5", "1", "63", "tokens", "k: of one drafter's step, at most"),
                integer("siblings", "2", "0", "8", "tokens", "beside each one of a drafter, at most"),
                number("mass", "0.9", "probability", "siblings are added until they have it together"),
                integer("match", "4", "0", "16", "tokens",
                        "the longest end of the text that is looked up for guesses; 0 = none"),
                choice("costs", "measured", {"measured", "by-weights"},
                       "what a drafter's pass takes: as the clock says, with a round without a draft every "
                       "64; or by "
                       "the weights that it reads"),
                number("decay", "0.7", "", "λ: weight of an acceptance rate so far"),
                integer("memory", "20", "1", "1024", "tokens", "H: latest ones that it moves to")},
           .replay_needs = ReplayNeeds::impossible,
           .no_replay = "it goes by what each drafter said of drafts that only it would have made",
           .draft = {"parts of the model in turn", {}}}}};
}

}  // namespace draftscope::speculation
