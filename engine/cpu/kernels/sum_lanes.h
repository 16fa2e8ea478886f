// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <immintrin.h>

namespace draftscope::engine::cpu {

/// Sums of the lanes of eight vectors, side by side: lanes i and i+4, then i and i+2, i+1 are added. It has
/// internal linkage, so that code compiled for AVX-512 is never linked in place of code for a lesser
/// processor.
static inline __m256 sum_eight(const __m256* v) {
  __m256 fours[4];
  __m256 twos[2];
  // The last steps transpose 2 x 4, so vectors are taken in transposed order.
  const auto at = [v](int i) { return v[4 * (i % 2) + i / 2]; };
  for (int i = 0; i < 4; ++i)
    fours[i] = _mm256_add_ps(_mm256_permute2f128_ps(at(2 * i), at(2 * i + 1), 0x20),
                             _mm256_permute2f128_ps(at(2 * i), at(2 * i + 1), 0x31));
  for (int i = 0; i < 2; ++i) {
    const __m256d low = _mm256_castps_pd(fours[2 * i]);
    const __m256d high = _mm256_castps_pd(fours[2 * i + 1]);
    twos[i] = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(low, high)),
                            _mm256_castpd_ps(_mm256_unpackhi_pd(low, high)));
  }
  return _mm256_add_ps(_mm256_shuffle_ps(twos[0], twos[1], 0x88), _mm256_shuffle_ps(twos[0], twos[1], 0xdd));
}

}  // namespace draftscope::engine::cpu
