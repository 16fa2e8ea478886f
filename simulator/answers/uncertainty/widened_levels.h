// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include "answers/uncertainty/confidence_draws.h"

namespace draftscope::simulator {

/// Levels of percentile intervals for `clusters` resampled clusters (Hesterberg 2015, §6). `sampled` is the
/// share of the draws' variance that the resampling causes, in [0, 1]: the rest needs no widening. Expects
/// ten clusters or more.
[[nodiscard]] IntervalLevels widened_levels(std::size_t clusters, double sampled);

}  // namespace draftscope::simulator
