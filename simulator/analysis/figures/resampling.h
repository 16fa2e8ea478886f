// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Two statistical functions that need no assumption about the distribution of times.

#include <draftscope/simulator/analysis/speedup.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace draftscope::simulator {

/// Percentile bootstrap (Efron 1979): `statistic` is evaluated on `resamples` draws of `count` indices with
/// replacement; returns its 2.5 % and 97.5 % quantiles. Deterministic. O(resamples · count).
[[nodiscard]] Interval bootstrap_95(std::size_t count,
                                    const std::function<double(std::span<const std::size_t>)>& statistic,
                                    int resamples = 2000, std::uint64_t seed = 20240301);

/// Two-sided p value of Wilcoxon's signed-rank test that the differences are symmetric about 0. Zero
/// differences are dropped (Wilcoxon 1945); ties share their mean rank. It is exact up to 200 differences
/// (every assignment of signs counted), beyond that the normal approximation with tie and continuity
/// corrections. 1 if no difference is left.
[[nodiscard]] double signed_rank_p_value(std::span<const double> differences);

}  // namespace draftscope::simulator
