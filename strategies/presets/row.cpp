// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_presets() {
  return {.strategies = {
              {.name = "layerskip",
               .summary = "drafts with the first E layers, a fixed number of tokens per round",
               .source = "Elhoushi et al. 2024, LayerSkip, §4.3",
               .parts = {"exit", "fixed", "none", "chain"},
               .defaults = {{"verify", "above-exit"}},
               .is_plain_exit = true},
              {.name = "fs",
               .summary = "layerskip with a length that grows on a full accept and shrinks otherwise",
               .source = "DEL's baseline FSM (Entezari Zarch et al. 2025)",
               .parts = {"exit", "fs", "none", "chain"},
               .defaults = {{"verify", "above-exit"}}},
              {.name = "dv",
               .summary = "layerskip with Draft & Verify's adaptive threshold",
               .source = "DEL's baseline DV (Entezari Zarch et al. 2025)",
               .parts = {"exit", "fixed", "adaptive", "chain"},
               .defaults = {{"gamma", "18"}, {"target", "0.8"}, {"rule", "del"}, {"verify", "above-exit"}}},
              {.name = "draft-verify",
               .summary = "skips a set of sublayers found before; adaptive draft-exit threshold",
               .source = "Zhang et al. 2024, Draft & Verify (Self-SD)",
               .parts = {"skip-set", "fixed", "adaptive", "chain"},
               .defaults = {{"gamma", "12"}}}}};
}

}  // namespace draftscope::speculation
