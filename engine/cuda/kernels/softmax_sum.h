// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Unnormalised sums of values by a softmax's weights, over some keys of a query, and how those of further
// keys are added: each step is one operation that no compiler may fuse or part, so that the same sums have
// the same bits wherever they are added.

#include "device.h"

namespace draftscope::engine::cuda {

inline constexpr float lowest_score = -3.402823466e38F;
inline constexpr float log2_of_e = 1.4426950408889634F;  ///< from a score to an exponent of two

/// Leaves eight dimensions of two queries of a tile, eight rows apart, as two mma take them, a chunk of the
/// lane's each; chunks of a warp's lanes follow one another.
DRAFTSCOPE_DEVICE void put_queries(Chunk* to, const Chunk& upper, const Chunk& lower) {
  to[0] = {{upper.words[0], lower.words[0], upper.words[1], lower.words[1]}};
  to[warp_threads] = {{upper.words[2], lower.words[2], upper.words[3], lower.words[3]}};
}

/// Sums of `n` dimensions. Scores are exponents of two.
template <int n>
struct SoftmaxSum {
  float values[n];
  float maximum;  ///< maximum of the scores
  float sum;      ///< sum of the weights: 0 where there are no keys

  DRAFTSCOPE_DEVICE static SoftmaxSum none() {
    SoftmaxSum result;
    for (int i = 0; i < n; ++i) result.values[i] = 0.0F;
    result.maximum = lowest_score;
    result.sum = 0.0F;
    return result;
  }

  /// Adds keys after those that there are. A sum without keys is passed over; one with a NaN is not.
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
