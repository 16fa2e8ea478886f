// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Costs of choices of (exit, length), and the list of choices.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

// The oracle: the minimum time in which any policy of early-exit drafts could have decoded one text, at given
// prices. Committed text is the same under every policy, and the cost of a round depends on its start only. A
// dynamic programme over starts is therefore exact (the argument of shadow_table.h):
//
//   V(end) = 0
//   V(i)   = min( T(i) + V(i + 1),  min over exits E and lengths g of C(E, g, i) + V(i + min(g, r_E(i)) + 1)
//   )
//
// T is a target step, C a round of g draft steps and one verification of g + 1 rows, and r_E the run length.
// Lengths beyond the run length are tried too: they cost a rejected token, which can still pay where a wider
// verification is cheaper than a narrower one. So the bound holds for any prices, smooth or not.
//
// Tails follow the decode loop. Before a budget no round drafts more than it may emit in addition to the
// bonus token. A text that ended at an end token costs one emission more than it has tokens. Drafts may run
// past its end, where they count as rejected.

struct ShadowTable;

/// Choices of the oracle in each round. The defaults allow everything that has a price.
struct OracleOptions {
  std::vector<std::int32_t> exits;    ///< Empty = every exit that has prices.
  std::vector<std::int32_t> lengths;  ///< Speculation lengths; empty = 1 up to `longest`.
  std::int32_t longest = 17;          ///< Maximum length where `lengths` is empty, if it has a price.
  std::int32_t max_rows = 0;          ///< Maximum rows of a verification; 0 = all that have a price.
  /// Whether every draft token is accepted, whatever the exit predicted. This bounds the gain of better
  /// drafts.
  bool perfect_drafts = false;
};

/// Time of the fastest plan. O(tokens · exits · lengths) time, O(tokens · exits) memory. Errors: a table
/// whose cells don't fit its text, an exit, length or row limit without a price or out of range.
[[nodiscard]] Result<double> oracle_time_ns(const ShadowTable& table, const Prices& prices,
                                            const OracleOptions& options = {});

/// Time of the text by target steps only, including the step that yields the end token.
[[nodiscard]] double vanilla_time_ns(const ShadowTable& table, const Prices& prices);

/// Prices of the same machine with free draft steps, which bound the gain of faster drafts.
[[nodiscard]] Prices free_drafts(const Prices& prices);

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
