// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include "answers/uncertainty/confidence_draws.h"

namespace draftscope::simulator {

/// Student's quantile where the normal one is z (Abramowitz and Stegun 26.7.5); off by less than 2e-3 from
/// nine degrees of freedom on, by 2 % of three.
[[nodiscard]] double student_quantile(double z, double freedom);

/// Levels of percentile intervals for `clusters` resampled clusters (Hesterberg 2015, §6). `sampled` is the
/// share of the draws' variance that the resampling causes, in [0, 1]: the rest needs no widening. Expects
/// ten clusters or more.
[[nodiscard]] IntervalLevels widened_levels(std::size_t clusters, double sampled);

}  // namespace draftscope::simulator
