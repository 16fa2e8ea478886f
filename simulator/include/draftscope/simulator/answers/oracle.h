// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The oracle: the least time in which any policy of early-exit drafts could have decoded one text,
// on given prices. Committed text is the same under every policy, and the cost of a round depends on its
// start alone, so that a dynamic programme over starts is exact (the argument of shadow_table.h):
//
//   V(end) = 0
//   V(i)   = min( T(i) + V(i + 1),  min over exits E and lengths g of C(E, g, i) + V(i + min(g, r_E(i)) + 1)
//   )
//
// with T a target step, C a round of g draft steps and one verification of g + 1 rows, and r_E the run
// length. Lengths beyond the run length are tried too: they cost a rejected token, which can still pay where
// a wider verification is cheaper than a narrower one. So the bound holds on any prices, smooth or not.
//
// Tails are those of the decode loop: before a budget no round drafts more than it may emit beside the bonus
// token; a text that ended at an end token costs one emission more than it has tokens, and drafts may run
// past its end, where they count as rejected.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <vector>

namespace draftscope::simulator {

struct ShadowTable;

/// Choices that the oracle has, each round anew. The defaults restrict nothing that has a price.
struct OracleOptions {
  std::vector<std::int32_t> exits;    ///< empty = every exit that has prices
  std::vector<std::int32_t> lengths;  ///< speculation lengths; empty = 1 up to `longest`
  std::int32_t longest = 17;          ///< where `lengths` is empty; those without a price are left out
  std::int32_t max_rows = 0;          ///< of a verification; 0 = as many as have a price
  bool may_skip = true;               ///< a round without a draft is always a choice, not only at the tail
  /// Every draft token is accepted, whatever the exit predicted: what better drafts alone could give.
  bool perfect_drafts = false;
};

struct OracleRound {
  std::int32_t position = 0;  ///< tokens known at its start, prompt and output
  std::int32_t exit = 0;      ///< 0 = a round without a draft
  std::int32_t drafted = 0;
  std::int32_t accepted = 0;
};

struct OraclePlan {
  std::vector<OracleRound> rounds;  ///< in order; the first choice among equally fast ones
  RoundStatistics statistics;       ///< of these rounds
  double time_ns = 0.0;             ///< of these rounds; equals time_ns(statistics, prices)
  double vanilla_ns = 0.0;          ///< the same text by target steps alone

  /// 1 if there was nothing to decode.
  [[nodiscard]] double speedup() const { return time_ns > 0.0 ? vanilla_ns / time_ns : 1.0; }
};

/// The fastest plan. O(tokens · exits · lengths) time, O(tokens · exits) memory. Errors: a table whose cells
/// don't fit its text, an exit, length or row limit without a price or out of range.
[[nodiscard]] Result<OraclePlan> oracle_plan(const ShadowTable& table, const Prices& prices,
                                             const OracleOptions& options = {});

/// Time of the text by target steps alone, the one that yields the end token included.
[[nodiscard]] double vanilla_time_ns(const ShadowTable& table, const Prices& prices);

/// The same machine with draft steps at no cost: what faster drafts alone could give.
[[nodiscard]] Prices free_drafts(const Prices& prices);

}  // namespace draftscope::simulator
