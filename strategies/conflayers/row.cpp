// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_conflayers() {
  return {
      .parts = {{.kind = PartKind::mask,
                 .name = "conflayers",
                 .summary = "layers whose outputs are less sure than those around",
                 .source = "Amer et al. 2026, ConfLayers; defaults of its public code",
                 .parameters =
                     {number("ratio", "0.45", "share",
                             "of the layers between first and last that are skipped, at least"),
                      of_search(integer("window", "32", "1", "64", "tokens",
                                        "of the output's end whose outputs are looked at")),
                      of_search(integer("interval", "25", "1", max_rounds, "rounds",
                                        "that a set is tried for before the next search")),
                      of_search(number(
                          "max-score", "0.95", "share",
                          "the search ends with a set of which more of the draft is accepted, and more than "
                          "four tokens a round")),
                      of_search(integer("max-iterations", "1000", "1", max_rounds, "searches",
                                        "the search ends after"))},
                 .min_layers = 3,
                 .min_layers_reason = both_ends_are_kept,
                 .no_replay = reads_its_own_rows("its layers follow from hidden states, and "),
                 .layers = MaskLayers::beside_searched_set,
                 .describe = [](const auto&, const auto&) -> DraftDescription {
                   return {"layers chosen by their outputs", {}};
                 }}},
      .strategies = {
          {.name = "conflayers",
           .summary = "skips layers whose outputs are less sure than those around; early stop, token tree",
           .source = "Amer et al. 2026, ConfLayers",
           .parts = {"conflayers", "fixed", "threshold", "tree"},
           .defaults = {{"gamma", "25"}, {"threshold", "0.8"}}}}};
}

}  // namespace draftscope::speculation
