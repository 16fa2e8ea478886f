// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where a prediction's spread comes from: how much of the variance of ln(speedup) each source causes alone,
// with all others at their means, and what is left for their interaction. What would be measured next to
// narrow the interval is the source with the largest share.
//
// The same random numbers are used alone and together, so that the interaction is not the noise of the draws.
// It may be negative. Noise that scales all times of a target alike has no share: it cancels.

#include <draftscope/simulator/sweep/sweep.h>
#include <span>

namespace draftscope::simulator {

/// Shares sum to 1, if there is any variance.
struct VarianceBudget {
  double sigma = 0.0;       ///< standard deviation of ln(speedup), everything varying
  double acceptance = 0.0;  ///< which requests there happened to be
  double fit = 0.0;         ///< PriceSources::fit, and so on
  double width = 0.0;
  double transfer = 0.0;
  double interaction = 0.0;  ///< 1 − the others
};

/// Of a setting's statistics with the fewest draft tokens. `vanilla` as sweep() wants it. Errors as sweep(),
/// an invalid setting, and too few requests for an interval. O(draws · requests), and four times `draws`
/// price draws.
[[nodiscard]] Result<VarianceBudget> variance_budget(std::span<const PassCount> vanilla,
                                                     const SweepSetting& setting, const SweepTarget& target,
                                                     const SweepOptions& options = {});

}  // namespace draftscope::simulator
