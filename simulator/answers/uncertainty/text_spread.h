// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How far speedups of other kinds of texts lie from the recorded ones': a mean of the kinds that were
// recorded, where a kind is a category of prompts, plus a new kind's own deviation.
//
// A kind's ln(speedup) is taken to be normal around the strategy's mean, with a variance that differs from
// strategy to strategy: scaled inverse χ², fitted to published speedups by task
// (bench/simulator/kind_spread). The kinds of the recording update it (Gelman et al., Bayesian Data
// Analysis, §2.6), so that a new kind's ln(speedup) has Student's t.

#include <draftscope/simulator/answers/prediction.h>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Spread by these requests: vanilla time over time, and the kind of each. Expects as many kinds as requests.
[[nodiscard]] TextSpread spread_between_kinds(std::span<const ClusterSums> requests,
                                              std::span<const std::string> kinds);

/// [draw]: deviation of ln(speedup) of a kind that was not recorded. A function of the spread, `draws` and
/// `seed` alone.
[[nodiscard]] std::vector<double> kind_deviations(const TextSpread& spread, const BootstrapOptions& options);

}  // namespace draftscope::simulator
