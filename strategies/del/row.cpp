// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

namespace {

/// Parameters of DEL's three parts, which share one object.
std::vector<ParameterRow> del_parameters() {
  ParameterRow mode = choice(
      "mode", "paper", {"paper", "code", "repaired"},
      "paper: drafts up to d-max, ended by the threshold alone, layers alone cost; code: so too, but one "
      "token in the first round; repaired: γ is honoured, 0 = a plain step, the head counts as layers");
  mode.earlier_choices = {{"published", "code"}};
  return {std::move(mode),
          renamed(integer("d-max", "18", "1", longest_draft, "tokens", "longest draft"), "most"),
          number("omega", "0.95", "", "decay of the statistics a round"),
          integer("prompt-window", "32", "0", "64", "tokens",
                  "last prompt positions that the first statistics see; 0 = none"),
          unrecorded(layers("exits", "",
                            "exits that may be chosen, as 4-31, 4+8+12 or every-2; empty = all, or beside "
                            "mask=exit that exit"),
                     "every-1")};
}

}  // namespace

StrategyRows row_of_del() {
  return {.parts = {{.kind = PartKind::mask,
                     .name = "del",
                     .summary = "the exit of the most tokens per loaded layer",
                     .source = "Entezari Zarch et al. 2025, DEL, §4",
                     .parameters = del_parameters(),
                     .min_layers = 2,
                     .layers = MaskLayers::below_chosen_exit,
                     .describe = [](const auto&, const auto&) -> DraftDescription {
                       return {"an exit chosen anew each round", {}};
                     }},
                    {.kind = PartKind::length,
                     .name = "del",
                     .summary = "the length of the most tokens per loaded layer at DEL's own exit",
                     .source = "Entezari Zarch et al. 2025, DEL, §4",
                     .parameters = del_parameters(),
                     .min_layers = 2,
                     .no_chain = "DEL's length needs what every exit would have drafted"},
                    {.kind = PartKind::stop,
                     .name = "del",
                     .summary = "between the mean confidences of right and wrong shadow tokens",
                     .source = "Entezari Zarch et al. 2025, DEL, §4",
                     .parameters = del_parameters(),
                     .min_layers = 2,
                     .no_chain = "DEL's stop needs what every exit would have drafted"}},
          .strategies = {
              {.name = "del",
               .summary = "chooses exit, length and threshold from what every layer would have drafted",
               .source = "Entezari Zarch et al. 2025, DEL",
               .parts = {"del", "del", "del", "chain"},
               .defaults = {{"verify", "above-exit"}}}}};
}

}  // namespace draftscope::speculation
