// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What makes a predicted speedup uncertain, and how draws of prices come to it. One draw of prices holds for
// the speculative run and its vanilla baseline alike, so that what is common to both cancels.

#include <draftscope/simulator/closed_forms/prices.h>
#include <cstdint>
#include <functional>

namespace draftscope::simulator {

/// Which of the prices' sources vary in a draw; those that don't stay at their means.
struct PriceSources {
  bool fit = true;       ///< the fitted parameters' covariance
  bool width = true;     ///< how much a verification grows with its rows
  bool transfer = true;  ///< from the recorded machine to another one
};

/// The prices of draw number `draw`: a pure function of its arguments that may be called by several threads
/// at once. The same number with other sources uses the same random numbers for those they share.
using PriceDraws = std::function<Prices(std::uint64_t draw, PriceSources vary)>;

/// Standard deviations of the logarithm, for prices without a fitted covariance.
struct PriceSpread {
  double fit = 0.0;       ///< of target step, draft steps and verifications of two rows, each on its own
  double width = 0.0;     ///< of a verification's surplus over two rows, one factor for all
  double transfer = 0.0;  ///< of each pass's context slope, one factor for all; of round times, another one
  double common = 0.0;    ///< of all times by one factor; counted to transfer
};

/// Log-normal draws around `prices`, whose medians they keep.
[[nodiscard]] PriceDraws spread_prices(Prices prices, const PriceSpread& spread, std::uint64_t seed);

}  // namespace draftscope::simulator
