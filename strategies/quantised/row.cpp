// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/row.h"

namespace draftscope::speculation {

StrategyRows row_of_quantised() {
  return {.strategies = {{.name = "quantised",
                          .summary = "drafts with all of the model on a copy of its weights in fewer bits",
                          .source = "Zhao et al. 2024, QSpec; Tiwari et al. 2025, QuantSpec",
                          .parts = {"full", "fixed", "none", "chain"},
                          .defaults = {{"gamma", "5"}, {"weights", "q4_0"}}}}};
}

}  // namespace draftscope::speculation
