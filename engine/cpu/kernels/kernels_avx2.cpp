// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>
#include <immintrin.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/kernels/sum_lanes.h"
#include "cpu/kernels/vector_kernels.h"

namespace draftscope::engine::cpu {

namespace {

struct VectorAvx2 {
  using Value = __m256;
  static constexpr int width = 8;
  static constexpr int accumulators = 8;

  static Value zero() { return _mm256_setzero_ps(); }
  static Value all(float x) { return _mm256_set1_ps(x); }
  static Value load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Value x) { _mm256_storeu_ps(p, x); }
  static Value load_first(const float* p, std::int64_t n, float rest) {
    float lanes[width] = {rest, rest, rest, rest, rest, rest, rest, rest};
    std::memcpy(lanes, p, static_cast<std::size_t>(n) * sizeof(float));
    return load(lanes);
  }
  static void store_first(float* p, std::int64_t n, Value x) {
    float lanes[width];
    store(lanes, x);
    std::memcpy(p, lanes, static_cast<std::size_t>(n) * sizeof(float));
  }

  static Value add(Value a, Value b) { return _mm256_add_ps(a, b); }
  static Value sub(Value a, Value b) { return _mm256_sub_ps(a, b); }
  static Value mul(Value a, Value b) { return _mm256_mul_ps(a, b); }
  static Value div(Value a, Value b) { return _mm256_div_ps(a, b); }
  static Value max(Value a, Value b) { return _mm256_max_ps(a, b); }
  static Value min(Value a, Value b) { return _mm256_min_ps(a, b); }
  static Value fma(Value a, Value b, Value c) { return _mm256_fmadd_ps(a, b, c); }
  static Value round(Value a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  /// Computes a · 2^n for whole n in [-126, 127].
  static Value scale_by_power(Value a, Value n) {
    const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return mul(a, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
  }
  static Value zero_where_less(Value x, Value a, Value b) {
    return _mm256_and_ps(x, _mm256_cmp_ps(a, b, _CMP_NLT_UQ));
  }

  template <DType dtype>
  static Value load_as(const std::byte* p) {
    if constexpr (dtype == DType::f32) return _mm256_loadu_ps(reinterpret_cast<const float*>(p));
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    if constexpr (dtype == DType::f16) return _mm256_cvtph_ps(half);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  }
  template <DType dtype>
  static Value load_first_as(const std::byte* p, std::int64_t n) {
    std::byte lanes[width * sizeof(float)] = {};
    std::memcpy(lanes, p, static_cast<std::size_t>(n) * dtype_bytes(dtype));
    return load_as<dtype>(lanes);
  }

  /// Sums are written in whole vectors.
  template <int N>
  static constexpr int room_for_sums = (N + 7) / 8 * 8;

  /// Sets out[i] to the sum of values[i]'s lanes: i and i+4, then i and i+2, i+1 are added, whatever N is.
  /// Entries from N on are zero.
  template <int N>
  static void sums(const Value (&values)[N], float (&out)[room_for_sums<N>]) {
    for (int done = 0; done < N; done += 8) {
      Value padded[8];
      for (int i = 0; i < 8; ++i) padded[i] = done + i < N ? values[done + i] : zero();
      store(out + done, sum_eight(padded));
    }
  }
  static float sum(Value x) {
    float out[room_for_sums<1>];
    const Value one[1] = {x};
    sums<1>(one, out);
    return out[0];
  }
  static float maximum(Value x) {
    float lanes[width];
    store(lanes, x);
    float highest = lanes[0];
    for (int i = 1; i < width; ++i) highest = lanes[i] > highest ? lanes[i] : highest;
    return highest;
  }
};

}  // namespace

const Kernels& avx2_kernels() {
  static const Kernels kernels = vector_kernels<VectorAvx2>("avx2", avx2_packed_products());
  return kernels;
}

}  // namespace draftscope::engine::cpu
