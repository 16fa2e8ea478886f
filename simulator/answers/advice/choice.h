// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Candidates with prices: which is fastest, and how fast the fastest is on prompts it was not chosen on.

#include <draftscope/simulator/answers/advice.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "answers/advice/joined_prices.h"

namespace draftscope::simulator {

/// Candidates as a machine's joined prices want them.
struct PlacedCandidates {
  std::vector<StrategyRounds> rounds;  ///< for the machine's shape; exits are those of the joined prices
  std::vector<RoundStatistics> least, most;  ///< sums over requests; equal where rounds are certain
  PriceGroups groups;
};
[[nodiscard]] PlacedCandidates place(const Candidates& candidates, const ModelShape& recorded,
                                     const ModelShape& asked);

/// Times by which candidates compete: of both bounds that which is slower in sum.
struct Competition {
  double vanilla_ns = 0.0;
  std::vector<double> total_ns;  ///< [candidate]
  std::vector<bool> is_most;     ///< [candidate]: the slower bound is that of the most draft tokens

  [[nodiscard]] std::size_t fastest() const;
  [[nodiscard]] double speedup(std::size_t candidate) const { return vanilla_ns / total_ns[candidate]; }
};
[[nodiscard]] Competition compete(const PlacedCandidates& placed, const RoundStatistics& vanilla,
                                  const Prices& prices);

/// The slower bound's statistics, by request.
[[nodiscard]] const std::vector<RoundStatistics>& slower(const PlacedCandidates& placed,
                                                         const Competition& competition,
                                                         std::size_t candidate);

/// The rounds that each prompt would have had with what is fastest on the prompts of the other folds, vanilla
/// decoding included. Expects at least 2 folds. O(candidates · requests).
[[nodiscard]] SweepSetting cross_fitted(const PlacedCandidates& placed,
                                        const std::vector<RoundStatistics>& vanilla, const Prices& prices,
                                        std::size_t folds);

}  // namespace draftscope::simulator
