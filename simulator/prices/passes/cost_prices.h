// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a cost model to the prices of a scenario (prices.h), with what that rests on.
//
// To another GPU goes the engine's part: each parameter keeps its ratio to what the recorded GPU's
// specification implies, and takes the other's. Of a CPU recording nothing carries over to a GPU: the prices
// are then the specification's. Another shape changes bytes and launches only. Arithmetic bounds a product
// from below at 75 % of the dense rate. Only for the recorded machine, model, number type and regime, one
// request at a time, are prices corrected by what the law leaves over at the recording's passes.
//
// What a round's first draft step takes beside the others is in the price of the verification, of which a
// round that drafts has one as well.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/prices/scenario.h>
#include <cstdint>
#include <memory>
#include <span>

namespace draftscope::simulator {

struct PassMap;

/// Prices as a linear map of the parameters, made once a scenario; drawing from it is cheap.
/// Values: copies share what is inside; free to use from several threads at once.
class PriceMap {
 public:
  /// With `exits`, places in Prices::drafts, ascending, those drafts alone are priced, to the bit as among
  /// all: a draw takes as long as it has drafts, and one setting has few. Others' verifications are then
  /// empty. `before`, of the same model, gives what it knows of the same passes; null: nothing.
  [[nodiscard]] static Result<PriceMap> make(const CostModel& model, const Scenario& scenario,
                                             std::span<const std::int32_t> exits = {},
                                             const PriceMap* before = nullptr);

  [[nodiscard]] Prices mean() const;

  /// Prices with the parameters drawn from the fit's covariance (kept from going below 0), times log-normal
  /// factors of launches, bandwidth, host and link that draft, verification and target step share.
  /// Deterministic in (seed, index).
  [[nodiscard]] Prices draw(std::uint64_t seed, std::uint64_t index) const;
  /// The same into prices that are kept, which costs no allocation after the first. What does not vary stays
  /// at its mean: `fit` and `width` are the parameters', `transfer` the factors.
  void draw(std::uint64_t seed, std::uint64_t index, PriceSources vary, Prices& into) const;
  /// The same from the first noise_size() normal numbers of (seed, index).
  void draw(std::span<const double> normal, PriceSources vary, Prices& into) const;
  [[nodiscard]] std::size_t noise_size() const;

  /// Whether prices are of the recording's own circumstances, and so corrected by its passes.
  [[nodiscard]] bool is_as_recorded() const;

  [[nodiscard]] std::span<const CostNote> notes() const;

 private:
  explicit PriceMap(std::shared_ptr<const PassMap> passes);
  std::shared_ptr<const PassMap> passes_;
};

/// The mean of PriceMap::make().
[[nodiscard]] Result<Prices> prices(const CostModel& model, const Scenario& scenario);

}  // namespace draftscope::simulator
