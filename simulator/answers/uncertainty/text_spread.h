// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Spread of speedups of other kinds of texts around the recorded ones: the mean of the recorded kinds, where
// a kind is a category of prompts, plus a new kind's deviation.
//
// A kind's ln(speedup) is assumed to be normal around the strategy's mean, with a variance that differs
// between strategies: scaled inverse χ², fitted to published speedups by task (bench/simulator/kind_spread).
// The recorded kinds update it (Gelman et al., Bayesian Data Analysis, §2.6), so that a new kind's
// ln(speedup) has Student's t distribution.

#include <draftscope/simulator/answers/prediction.h>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Spread from these requests: vanilla time over time, and the kind of each. `kinds` must have the size of
/// `requests`.
[[nodiscard]] TextSpread spread_between_kinds(std::span<const ClusterSums> requests,
                                              std::span<const std::string> kinds);

/// [draw]: deviation of ln(speedup) for a kind that was not recorded. A pure function of the spread, `draws`
/// and `seed`.
[[nodiscard]] std::vector<double> kind_deviations(const TextSpread& spread, const BootstrapOptions& options);

}  // namespace draftscope::simulator
