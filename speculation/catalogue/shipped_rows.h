// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rows of the catalogue that ships.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>

namespace draftscope::speculation {

[[nodiscard]] std::vector<PartRow> shipped_parts();
/// In the order in which they are listed. `parts` holds the parts that `mix` offers.
[[nodiscard]] std::vector<StrategyRow> shipped_strategies(const StrategyCatalogue& parts);

}  // namespace draftscope::speculation
