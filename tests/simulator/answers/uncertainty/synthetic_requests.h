// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Requests as recordings have them: each with an acceptance of its own, rounds that resemble the one before,
// and log-normal lengths that grow with the acceptance.

#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/sweep.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <random>
#include <vector>

namespace draftscope::simulator {

inline constexpr std::int32_t synthetic_length = 4;  ///< draft tokens per round
inline constexpr std::int32_t synthetic_exit = 3;    ///< of synthetic_layers
inline constexpr std::int32_t synthetic_layers = 12;
inline constexpr std::int64_t synthetic_prompt = 50;  ///< context of the first round

/// Tokens and a 1 of each round.
[[nodiscard]] std::vector<ClusterSums> synthetic_rounds(std::mt19937_64& random, double length_sigma = 0.6);

[[nodiscard]] ClusterSums sum_of(const std::vector<ClusterSums>& rounds);

/// The passes of such rounds.
[[nodiscard]] RoundStatistics statistics_of(const std::vector<ClusterSums>& rounds);

/// Vanilla decoding of `count` requests and one setting's statistics of them.
struct SyntheticText {
  std::vector<PassCount> vanilla;
  SweepSetting setting;
};
[[nodiscard]] SyntheticText synthetic_text(std::size_t count, std::uint64_t seed);

[[nodiscard]] Prices synthetic_prices(double scale = 1.0);

}  // namespace draftscope::simulator
