// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Costs of choices of (exit, length), and the list of choices.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/oracle.h>
#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// Time of a round without a draft, as a function of its root position.
[[nodiscard]] AffineTime plain_round(const Prices& prices);

/// Time of a whole round with a draft of `length` ≥ 1 at `exit`, as a function of its root position. Both
/// must have prices.
[[nodiscard]] AffineTime draft_round(const Prices& prices, std::int32_t exit, std::int32_t length);

/// The longest draft that has a price at `exit`, 0 if none.
[[nodiscard]] std::int32_t longest_priced(const Prices& prices, std::int32_t exit);

/// The options made explicit and checked: ascending exits and lengths that all have prices.
struct OracleChoices {
  std::vector<std::int32_t> exits;
  std::vector<std::int32_t> lengths;
};
[[nodiscard]] Result<OracleChoices> oracle_choices(const ShadowTable& table, const Prices& prices,
                                                   const OracleOptions& options);

}  // namespace draftscope::simulator
