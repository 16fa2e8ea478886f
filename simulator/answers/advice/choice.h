// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Candidates with prices: the fastest one, and its speed on prompts that it was not chosen on.

#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Strategies whose passes have equal costs.
struct PriceGroup {
  std::vector<speculation::DraftSublayers> drafts;
  VerifiedLayers verified_layers = VerifiedLayers::all;
  std::vector<AuxiliaryPass> auxiliary_passes;
  std::optional<ModelShape> draft_model;
  std::int32_t widths = 2;
  std::int32_t offset = 0;           ///< Exit E of the group has number offset + E.
  std::size_t auxiliary_offset = 0;  ///< Offset of its auxiliary passes.
};

/// Grouping of strategies by price. Offsets do not depend on the machine.
class PriceGroups {
 public:
  /// Groups the strategies. `n_layers` is that of the priced model; all rounds must have its shape.
  PriceGroups(std::span<const StrategyRounds> strategies, std::int32_t n_layers);

  [[nodiscard]] const std::vector<PriceGroup>& groups() const { return groups_; }
  /// The strategy's statistics with the exits and auxiliary passes of the joined prices.
  [[nodiscard]] RoundStatistics placed(std::size_t strategy, RoundStatistics statistics) const;

 private:
  std::vector<PriceGroup> groups_;
  std::vector<std::size_t> group_of_;  // [strategy]
};

struct JoinedPrices {
  PricedMachine machine;
  bool has_own_ratios = false;  ///< PriceMap::has_own_ratios().
};

/// Joined prices on one machine. Prices of all groups are drawn together. Errors: a scenario that contradicts
/// itself.
[[nodiscard]] Result<JoinedPrices> joined_prices(const CostModel& model, const PriceGroups& groups,
                                                 const Machine& machine, std::int32_t longer_context,
                                                 std::uint64_t seed);

/// The candidates with the rounds of those that go by times as they are on this machine; without those that
/// it has no answer for, or that draft on weights of no fewer bits.
[[nodiscard]] Candidates on_machine(Candidates found, const WhatIf& what_if, const Machine& machine);

/// Candidates in the form that a machine's joined prices need.
struct PlacedCandidates {
  std::vector<StrategyRounds> rounds;  ///< Rounds for the machine's shape, with exits of the joined prices.
  std::vector<RoundStatistics> least, most;  ///< Sums over requests; equal where rounds are certain.
  PriceGroups groups;
};
[[nodiscard]] PlacedCandidates place(const Candidates& candidates, const ModelShape& recorded,
                                     const ModelShape& asked);

/// Times by which candidates compete: the bound whose sum is slower, as answers about them say.
struct Competition {
  double vanilla_ns = 0.0;
  std::vector<double> total_ns;   ///< [candidate]
  std::vector<bool> is_most;      ///< [candidate]: the slower bound is that of the most draft tokens
  std::vector<double> own_ratio;  ///< [candidate]: time / priced time; 1 without own ratios

  [[nodiscard]] std::size_t fastest() const;
  [[nodiscard]] double speedup(std::size_t candidate) const { return vanilla_ns / total_ns[candidate]; }
};
[[nodiscard]] Competition compete(const PlacedCandidates& placed, const RoundStatistics& vanilla,
                                  const Prices& prices, bool has_own_ratios);

/// The slower bound's statistics per request.
[[nodiscard]] const std::vector<RoundStatistics>& slower(const PlacedCandidates& placed,
                                                         const Competition& competition,
                                                         std::size_t candidate);

/// Rounds of each prompt with a candidate that was chosen on other prompts.
struct HeldOutRounds {
  SettingRounds setting;
  double own_ratio = 1.0;  ///< Time of all its rounds / their priced time.
};

/// Rounds with the candidate that is fastest on the prompts of the other folds, vanilla decoding included.
/// There must be at least 2 folds. O(candidates · requests).
[[nodiscard]] HeldOutRounds cross_fitted(const PlacedCandidates& placed, const Competition& competition,
                                         const std::vector<RoundStatistics>& vanilla, const Prices& prices,
                                         std::size_t folds);

// Limits of an advice: up to which batch and to which context it applies.

/// A machine's candidates, with vanilla decoding of the same texts.
struct AdvisedMachine {
  const CostModel& model;
  const Machine& machine;
  const PlacedCandidates& placed;
  const RoundStatistics& vanilla;  ///< Statistics of all requests.
  const AdviceOptions& options;
};

/// Doubles the batch and then halves the interval, assuming that speculation which does not pay at some batch
/// does not pay at a larger one. O(log batch · price maps).
[[nodiscard]] Result<BatchLimit> batch_limit(const AdvisedMachine& advised);

/// Searches the context in the same way, in steps of 1/16. `chosen` is the advised candidate, none for
/// vanilla decoding; `prices` and `has_own_ratios` are those of JoinedPrices at the machine's own context.
[[nodiscard]] ContextLimit context_limit(const AdvisedMachine& advised, std::optional<std::size_t> chosen,
                                         const Prices& prices, bool has_own_ratios);

}  // namespace draftscope::simulator
