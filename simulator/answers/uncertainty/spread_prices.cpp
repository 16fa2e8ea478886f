// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/sweep.h>

#include <draftscope/base/counter_random.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace draftscope::simulator {

namespace {

/// Box and Muller's transform; its second value is not used, so that each factor has separate numbers.
double factor_of(CounterRandom& random, double sigma) {
  const double radius = std::sqrt(-2.0 * std::log(random.uniform()));
  const double normal = radius * std::cos(2.0 * std::numbers::pi * random.uniform());
  return std::exp(sigma * normal);
}

struct Factors {
  double target = 1.0;
  double step = 1.0;
  double verify = 1.0;
  double width = 1.0;
  double slope = 1.0;
  double round = 1.0;
  double common = 1.0;
};

/// Draws all factors; they consume random numbers whether they vary or not.
Factors draw_factors(const PriceSpread& spread, std::uint64_t seed, std::uint64_t draw, PriceSources vary) {
  CounterRandom random(seed, draw);
  const double fit = vary.fit ? spread.fit : 0.0;
  const double transfer = vary.transfer ? spread.transfer : 0.0;
  Factors factors;
  factors.target = factor_of(random, fit);
  factors.step = factor_of(random, fit);
  factors.verify = factor_of(random, fit);
  factors.width = factor_of(random, vary.width ? spread.width : 0.0);
  factors.slope = factor_of(random, transfer);
  factors.round = factor_of(random, transfer);
  factors.common = factor_of(random, vary.transfer ? spread.common : 0.0);
  return factors;
}

void scale(AffineTime& time, double factor, double slope) {
  time.ns *= factor;
  time.ns_per_context_row *= slope;
}

}  // namespace

PriceDraws spread_prices(Prices prices, const PriceSpread& spread, std::uint64_t seed) {
  return [prices = std::move(prices), spread, seed](std::uint64_t draw, PriceSources vary) {
    const Factors factors = draw_factors(spread, seed, draw, vary);
    const double slope = factors.slope * factors.common;
    Prices drawn = prices;
    scale(drawn.target_step, factors.target * factors.common, slope);
    drawn.round_ns *= factors.round * factors.common;
    drawn.step_round_ns *= factors.round * factors.common;
    for (DraftPrices& draft : drawn.drafts) {
      scale(draft.step, factors.step * factors.common, slope);
      const double narrowest = draft.verify.size() > 2 ? draft.verify[2].ns : 0.0;
      for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) {
        AffineTime& verify = draft.verify[rows];
        verify.ns = std::max(narrowest + (verify.ns - narrowest) * factors.width, 0.0);
        scale(verify, factors.verify * factors.common, slope);
      }
      for (double& ns : draft.planned_ns) ns *= factors.verify * factors.common;
    }
    return drawn;
  };
}

}  // namespace draftscope::simulator
