// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_knapspec() {
  return {
      .parts = {{.kind = PartKind::mask,
                 .name = "knapspec",
                 .summary = "sublayers by a knapsack of measured times",
                 .source = "Cha et al. 2026, KnapSpec",
                 .parameters = {of_search(integer("interval", "64", "1", max_rounds, "rounds",
                                                  "from one search to the next; one follows the prefill")),
                                of_search(integer("window", "8", "1", "64", "tokens",
                                                  "of the text's end that sets are compared on")),
                                of_search(number("min-similarity", "0.5", "cosine",
                                                 "a set whose states are less alike is given up"))},
                 .min_layers = 3,
                 .min_layers_reason = both_ends_are_kept,
                 .no_replay = reads_its_own_rows("its sublayers follow from hidden states and times, and "),
                 .layers = MaskLayers::beside_searched_set,
                 .describe = [](const auto&, const auto&) -> DraftDescription {
                   return {"sublayers chosen by their times", {}};
                 }}},
      .strategies = {{.name = "knapspec",
                      .summary = "chooses the sublayers to skip by a knapsack of their measured times",
                      .source = "Cha et al. 2026, KnapSpec",
                      .parts = {"knapspec", "fixed", "threshold", "chain"},
                      .defaults = {{"gamma", "4"}, {"threshold", "0.7"}}}}};
}

}  // namespace draftscope::speculation
