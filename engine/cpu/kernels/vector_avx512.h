// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A vector of sixteen fp32 lanes. Included only by files compiled for AVX-512.

#include <draftscope/engine/checkpoint.h>
#include <immintrin.h>
#include <cstddef>
#include <cstdint>

#include "cpu/kernels/sum_lanes.h"

namespace draftscope::engine::cpu {

struct VectorAvx512 {
  using Value = __m512;
  static constexpr int width = 16;
  static constexpr int accumulators = 16;  ///< registers for sums in a loop that also streams two operands

  static Value zero() { return _mm512_setzero_ps(); }
  static Value all(float x) { return _mm512_set1_ps(x); }
  static Value load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Value x) { _mm512_storeu_ps(p, x); }
  static __mmask16 first(std::int64_t n) { return static_cast<__mmask16>((1U << n) - 1U); }
  /// Loads n lanes; the others get the value `rest`.
  static Value load_first(const float* p, std::int64_t n, float rest) {
    return _mm512_mask_loadu_ps(all(rest), first(n), p);
  }
  static void store_first(float* p, std::int64_t n, Value x) { _mm512_mask_storeu_ps(p, first(n), x); }

  static Value add(Value a, Value b) { return _mm512_add_ps(a, b); }
  static Value sub(Value a, Value b) { return _mm512_sub_ps(a, b); }
  static Value mul(Value a, Value b) { return _mm512_mul_ps(a, b); }
  static Value div(Value a, Value b) { return _mm512_div_ps(a, b); }
  static Value max(Value a, Value b) { return _mm512_max_ps(a, b); }
  static Value min(Value a, Value b) { return _mm512_min_ps(a, b); }
  static Value fma(Value a, Value b, Value c) { return _mm512_fmadd_ps(a, b, c); }
  static Value round(Value a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  static Value scale_by_power(Value a, Value n) { return _mm512_scalef_ps(a, n); }
  /// Sets lanes of x to zero where a < b.
  static Value zero_where_less(Value x, Value a, Value b) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ), x);
  }

  /// Loads sixteen weights or cache elements as fp32, from any address.
  template <DType dtype>
  static Value load_as(const std::byte* p) {
    if constexpr (dtype == DType::f32) return _mm512_loadu_ps(p);
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return widen<dtype>(half);
  }
  template <DType dtype>
  static Value load_first_as(const std::byte* p, std::int64_t n) {
    if constexpr (dtype == DType::f32) return _mm512_maskz_loadu_ps(first(n), p);
    return widen<dtype>(_mm256_maskz_loadu_epi16(first(n), p));
  }

  /// Sums are written in whole vectors: the next reader of a masked store would have to wait until the store
  /// has reached the cache.
  template <int N>
  static constexpr int room_for_sums = (N + 7) / 8 * 8;

  /// Sets out[i] to the sum of values[i]'s lanes: i and i+8, then i and i+4, i+2, i+1 are added, whatever N
  /// is. Entries from N on are zero.
  template <int N>
  static void sums(const Value (&values)[N], float (&out)[room_for_sums<N>]) {
    int done = 0;
    if constexpr (N >= 16) {
      for (; done + 16 <= N; done += 16) _mm512_storeu_ps(out + done, sum16(values + done));
    }
    constexpr int rest = N % 16;
    if constexpr (rest > 0) {
      Value padded[16];
      for (int i = 0; i < 16; ++i) padded[i] = i < rest ? values[done + i] : zero();
      if constexpr (rest > 8) {
        _mm512_storeu_ps(out + done, sum16(padded));
      } else {
        __m256 halves[8];
        for (int i = 0; i < 8; ++i)
          halves[i] = _mm256_add_ps(_mm512_castps512_ps256(padded[i]), _mm512_extractf32x8_ps(padded[i], 1));
        _mm256_storeu_ps(out + done, sum_eight(halves));
      }
    }
  }
  static float sum(Value x) {
    float out[room_for_sums<1>];
    const Value one[1] = {x};
    sums<1>(one, out);
    return out[0];
  }
  static float maximum(Value x) { return _mm512_reduce_max_ps(x); }

 private:
  template <DType dtype>
  static Value widen(__m256i half) {
    if constexpr (dtype == DType::f16) return _mm512_cvtph_ps(half);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
  }

  /// Sums the lanes of 16 vectors. Each step halves the lanes of two vectors and puts them side by side.
  static Value sum16(const Value* v) {
    Value eights[8];
    Value fours[4];
    Value twos[2];
    // The last steps transpose 4 x 4, so vectors are taken in transposed order.
    const auto at = [v](int i) { return v[4 * (i % 4) + i / 4]; };
    for (int i = 0; i < 8; ++i)
      eights[i] = _mm512_add_ps(_mm512_shuffle_f32x4(at(2 * i), at(2 * i + 1), 0x44),
                                _mm512_shuffle_f32x4(at(2 * i), at(2 * i + 1), 0xee));
    for (int i = 0; i < 4; ++i)
      fours[i] = _mm512_add_ps(_mm512_shuffle_f32x4(eights[2 * i], eights[2 * i + 1], 0x88),
                               _mm512_shuffle_f32x4(eights[2 * i], eights[2 * i + 1], 0xdd));
    for (int i = 0; i < 2; ++i) {
      const __m512d low = _mm512_castps_pd(fours[2 * i]);
      const __m512d high = _mm512_castps_pd(fours[2 * i + 1]);
      twos[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(low, high)),
                              _mm512_castpd_ps(_mm512_unpackhi_pd(low, high)));
    }
    return _mm512_add_ps(_mm512_shuffle_ps(twos[0], twos[1], 0x88),
                         _mm512_shuffle_ps(twos[0], twos[1], 0xdd));
  }
};

}  // namespace draftscope::engine::cpu
