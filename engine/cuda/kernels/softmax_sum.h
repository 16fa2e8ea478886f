// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Unnormalised sums of values by a softmax's weights, over some keys of a query, and how sums of further keys
// are added. Each step is one operation that no compiler may fuse or split, so that the same sums have the
// same bits wherever they are added.

#include "device.h"

namespace draftscope::engine::cuda {

inline constexpr float lowest_score = -3.402823466e38F;
inline constexpr float log2_of_e = 1.4426950408889634F;  ///< Factor from a score to an exponent of two.

/// Stores eight dimensions of two queries of a tile, eight rows apart, as two mma take them: one chunk of the
/// lane each. Chunks of a warp's lanes follow one another.
DRAFTSCOPE_DEVICE void put_queries(Chunk* to, const Chunk& upper, const Chunk& lower) {
  to[0] = {{upper.words[0], lower.words[0], upper.words[1], lower.words[1]}};
  to[warp_threads] = {{upper.words[2], lower.words[2], upper.words[3], lower.words[3]}};
}

/// Sums of `n` dimensions. Scores are exponents of two.
template <int n>
struct SoftmaxSum {
  float values[n];
  float maximum;  ///< Maximum of the scores.
  float sum;      ///< Sum of the weights; 0 without keys.

  DRAFTSCOPE_DEVICE static SoftmaxSum none() {
    SoftmaxSum result;
    for (int i = 0; i < n; ++i) result.values[i] = 0.0F;
    result.maximum = lowest_score;
    result.sum = 0.0F;
    return result;
  }

  /// Adds the sum of later keys. A sum without keys is skipped, but not one with a NaN.
  DRAFTSCOPE_DEVICE void add(const SoftmaxSum& next) {
    if (next.sum == 0.0F) return;
    const float highest = fmaxf(maximum, next.maximum);
    const float mine = exponential_of_two(maximum - highest);
    const float others = exponential_of_two(next.maximum - highest);
    for (int i = 0; i < n; ++i) values[i] = fmaf(others, next.values[i], mine * values[i]);
    sum = fmaf(others, next.sum, mine * sum);
    maximum = highest;
  }
};

}  // namespace draftscope::engine::cuda
