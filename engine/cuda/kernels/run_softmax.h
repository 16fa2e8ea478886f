// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Softmax of a tile's queries over a run of keys, by the warp that holds their scores. Lane 4·g + t has the
// scores of queries g and g + 8, as an mma leaves them. The results are unnormalised, in exponents of two.

#include "softmax_sum.h"

namespace draftscope::engine::cuda {

/// Maxima and sums of weights of a lane's two queries.
struct RunStatistics {
  float maximum[2] = {lowest_score, lowest_score};
  float sum[2] = {};  ///< Sums of the weights.
};

/// Turns scores into weights. `scale` turns a score into an exponent. `is_present(tile of eight keys, i)`
/// says whether a query has the key of one of a lane's four scores; if not, its weight is 0.
template <int tiles, typename IsPresent>
DRAFTSCOPE_DEVICE RunStatistics run_softmax(float (&scores)[tiles][4], float scale,
                                            const IsPresent& is_present) {
  RunStatistics result;
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (is_present(tile, i)) result.maximum[i / 2] = fmaxf(result.maximum[i / 2], scores[tile][i]);
#pragma unroll
  for (int mask = 1; mask <= 2; mask *= 2)
    for (float& maximum : result.maximum) maximum = fmaxf(maximum, shuffle_xor(maximum, mask));
  for (float& maximum : result.maximum) maximum = fmaxf(maximum * scale, lowest_score);
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      scores[tile][i] = is_present(tile, i)
                            ? exponential_of_two(fmaf(scores[tile][i], scale, -result.maximum[i / 2]))
                            : 0.0F;
      result.sum[i / 2] += scores[tile][i];
    }
#pragma unroll
  for (int mask = 1; mask <= 2; mask *= 2)
    for (float& sum : result.sum) sum += shuffle_xor(sum, mask);
  return result;
}

}  // namespace draftscope::engine::cuda
