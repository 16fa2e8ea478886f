// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_auto() {
  return {
      .strategies = {
          {.name = "auto",
           .summary = "each round the draft of the most expected tokens for its time: what followed in the "
                      "text before, "
                      "the model in fewer bits, its next-token layer, an early exit, a skip set, or none; "
                      "never slower than "
                      "vanilla by more "
                      "than a share",
           .source = "renewal reward by Dinkelbach 1967; see strategies/auto/page.md",
           .parameters =
               {integer("max-gamma", "12", "1", "63", "tokens", "longest draft"),
                number("loss", "0.02", "share", "of vanilla's time that trials and wrong choices may cost"),
                text("formats", "q8_0+q4_0+fp8", "",
                     "weights of drafts in fewer bits than the target's, as q8_0+q4_0 or none; those "
                     "that the backend cannot make are left out"),
                layers("exits", "", "early exits that may draft, as 8+12; empty = none"),
                layers("skip-attention", "", "a skip set that may draft: layers without attention"),
                layers("skip-mlp", "", "and layers without MLP"),
                text("policy", "none", "file",
                     "of tune or advise: the parts by which its best settings draft may draft, and what "
                     "was measured of them is expected"),
                text("expected", "", "",
                     "of drafters, what is expected before they ran, as exit-8/0.71/0.35+q4_0/0.9/0.3: "
                     "acceptance of a token and cost of a draft step in vanilla rounds")},
           .has_guard = false,
           .replay_needs = ReplayNeeds::impossible,
           .no_replay = "it goes by what each round takes: simulate runs its rule with predicted times",
           .goes_by_times = true,
           .draft = {"what pays, chosen anew each round", {}}}}};
}

}  // namespace draftscope::speculation
