// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One set of prices for strategies that draft and verify in different ways, so that one request may be
// decoded by this and the next by that: each kind of draft has its own numbers in Prices::drafts.

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

}  // namespace draftscope::simulator
