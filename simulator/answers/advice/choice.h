// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Candidates with prices: which is fastest, and how fast the fastest is on prompts it was not chosen on.

#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Strategies whose passes cost the same.
struct PriceGroup {
  std::vector<speculation::DraftSublayers> drafts;
  VerifiedLayers verified_layers = VerifiedLayers::all;
  std::vector<AuxiliaryPass> auxiliary_passes;
  std::optional<ModelShape> draft_model;
  std::int32_t widths = 2;
  std::int32_t offset = 0;           ///< exit E of the group is number offset + E
  std::size_t auxiliary_offset = 0;  ///< of its auxiliary passes
};

/// Which strategies go together. Offsets do not depend on the machine.
class PriceGroups {
 public:
  /// `n_layers` of the model that the rounds are priced for. Expects all rounds to be of its shape.
  PriceGroups(std::span<const StrategyRounds> strategies, std::int32_t n_layers);

  [[nodiscard]] const std::vector<PriceGroup>& groups() const { return groups_; }
  /// The strategy's statistics with the exits and auxiliary passes of the joined prices.
  [[nodiscard]] RoundStatistics placed(std::size_t strategy, RoundStatistics statistics) const;

 private:
  std::vector<PriceGroup> groups_;
  std::vector<std::size_t> group_of_;  // [strategy]
};

/// On one machine. Prices of all groups are drawn together. Errors: a scenario that contradicts itself.
[[nodiscard]] Result<SweepTarget> joined_prices(const CostModel& model, const PriceGroups& groups,
                                                const Machine& machine, std::int32_t longer_context,
                                                std::uint64_t seed);

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
