// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prices of a scenario from a cost model (prices.h), with their basis.
//
// Transfer to another GPU keeps the engine's part: each parameter keeps its ratio to the value from the
// recorded GPU's specification, applied to the other GPU's value. Nothing of a CPU recording transfers to a
// GPU; the prices then come from the specification. Another shape changes bytes and launches only. Arithmetic
// bounds a product from below at 75 % of the dense rate. Corrections by the recording's passes apply only to
// the recorded machine, model, number type and regime, with one request at a time.
//
// The additional time of a round's first draft step is in the price of the verification, since a round with a
// draft has exactly one of each.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/prices/scenario.h>
#include <cstdint>
#include <memory>
#include <span>

namespace draftscope::simulator {

struct PassMap;

/// Prices as a linear map of the parameters, made once per scenario; draws from it are cheap. A value whose
/// copies share data; safe from several threads at once.
class PriceMap {
 public:
  /// `exits` are ascending indices into Prices::drafts: then only those drafts are priced, equal to the bit,
  /// and verifications of others are empty. A draw takes time in proportion to its drafts, and one setting
  /// has few. `before` is a map of the same model whose results for the same passes are reused; null = none.
  [[nodiscard]] static Result<PriceMap> make(const CostModel& model, const Scenario& scenario,
                                             std::span<const std::int32_t> exits = {},
                                             const PriceMap* before = nullptr);

  [[nodiscard]] Prices mean() const;

  /// Draws prices: parameters from the fit's covariance (bounded below by 0), times log-normal factors of
  /// launches, bandwidth, host and link that draft, verification and target step share. Deterministic in
  /// (seed, index).
  [[nodiscard]] Prices draw(std::uint64_t seed, std::uint64_t index) const;
  /// Draws prices into `into`, without allocation after the first time. Sources that do not vary stay at
  /// their mean: `fit` and `width` belong to the parameters, `transfer` to the factors.
  void draw(std::uint64_t seed, std::uint64_t index, PriceSources vary, Prices& into) const;
  /// Draws prices from the first noise_size() normal numbers of (seed, index).
  void draw(std::span<const double> normal, PriceSources vary, Prices& into) const;
  [[nodiscard]] std::size_t noise_size() const;

  /// Whether prices are for the recorded conditions, and so corrected by its passes.
  [[nodiscard]] bool is_as_recorded() const;
  /// Whether a recorded run's own ratios apply (StrategyRounds): as recorded, without a draft cost as an
  /// input.
  [[nodiscard]] bool has_own_ratios() const;

  [[nodiscard]] std::span<const CostNote> notes() const;

 private:
  explicit PriceMap(std::shared_ptr<const PassMap> passes);
  std::shared_ptr<const PassMap> passes_;
};

/// Mean prices, as from PriceMap::make().
[[nodiscard]] Result<Prices> prices(const CostModel& model, const Scenario& scenario);

}  // namespace draftscope::simulator
