// SPDX-License-Identifier: GPL-3.0-or-later
#include <immintrin.h>
#include <cstddef>
#include <cstdint>

#include "activations.h"
#include "cpu/quantised/vector_packed_products.h"

namespace draftscope::engine::cpu {

namespace {

struct LanesAvx2 {
  using Ints = __m256i;
  using Floats = __m256;
  static constexpr int width = 8;
  static constexpr int max_rows = 4;

  static Ints load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const Ints*>(p)); }
  static Ints bit_or(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  /// Moves `bits` bits of each byte from bit `from` to bit `to`.
  template <int from, int bits, int to>
  static Ints bits_at(Ints w) {
    if constexpr (from > to) w = _mm256_srli_epi16(w, from - to);
    if constexpr (from < to) w = _mm256_slli_epi16(w, to - from);
    return _mm256_and_si256(w, _mm256_set1_epi8(static_cast<char>(((1 << bits) - 1) << to)));
  }
  static Ints no_ints() { return _mm256_setzero_si256(); }
  static Ints all_ints(std::int32_t x) { return _mm256_set1_epi32(x); }
  static Floats zero() { return _mm256_setzero_ps(); }
  static Floats all(const float* x) { return _mm256_broadcast_ss(x); }
  static Floats halves(const std::byte* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  /// Loads eight signed bytes.
  static Floats bytes(const std::byte* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static Floats to_floats(Ints x) { return _mm256_cvtepi32_ps(x); }
  static Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats negative(Floats a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0F)); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static void store(float* p, Floats x) { _mm256_storeu_ps(p, x); }

  /// VPMADDUBSW adds two products in 16 bits, which has room for all weights except those of 8 unsigned bits.
  /// Weights of 8 bits become signed, and their signs move to the activations.
  template <bool is_signed>
  struct WeightOf {
    Ints magnitude;
    Ints value;  ///< the weights with their signs
  };
  template <int bits>
  static WeightOf<bits == 8> weight(Ints w) {
    if constexpr (bits < 8) return {w, w};
    w = _mm256_xor_si256(w, _mm256_set1_epi8(static_cast<char>(0x80)));
    return {_mm256_abs_epi8(w), w};
  }
  template <int bits, int zero_bits>
  static Ints start(Ints negative_sum) {
    if constexpr (bits == 8) return no_ints();
    return _mm256_slli_epi32(negative_sum, zero_bits);
  }
  template <bool is_signed>
  static Ints dot(Ints sum, WeightOf<is_signed> w, const std::byte* four_values) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, four_values, sizeof four);
    Ints x = _mm256_set1_epi32(four);
    if constexpr (is_signed) x = _mm256_sign_epi8(x, w.value);
    return _mm256_add_epi32(sum,
                            _mm256_madd_epi16(_mm256_maddubs_epi16(w.magnitude, x), _mm256_set1_epi16(1)));
  }

  static void round(const float* values, ActivationBlock& block) {
    __m256 x[4];
    __m256i largest = no_ints();
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_loadu_ps(values + 8 * i);
      largest = _mm256_max_epi32(largest,
                                 _mm256_and_si256(_mm256_castps_si256(x[i]), _mm256_set1_epi32(0x7fffffff)));
    }
    alignas(32) std::uint32_t magnitudes[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(magnitudes), largest);
    std::uint32_t most = 0;
    for (const std::uint32_t magnitude : magnitudes) most = magnitude > most ? magnitude : most;
    const Rounding rounding = rounding_of(most);
    const __m256 inverse = _mm256_set1_ps(rounding.inverse);
    const __m256i keep = _mm256_set1_epi32(rounding.inverse != 0.0F ? -1 : 0);  // NaN · 0 is not zero.
    alignas(32) std::int32_t quants[block_depth];
    for (int i = 0; i < 4; ++i)
      _mm256_store_si256(reinterpret_cast<__m256i*>(quants + 8 * i),
                         _mm256_and_si256(keep, _mm256_cvtps_epi32(_mm256_mul_ps(x[i], inverse))));
    std::int32_t sums[2] = {};
    for (int i = 0; i < block_depth; ++i) {
      block.quants[i] = static_cast<std::int8_t>(quants[i]);
      sums[i / 16] += quants[i];
    }
    finish_block(block, rounding.scale, sums[0], sums[1]);
  }
};

}  // namespace

const PackedProducts& avx2_packed_products() {
  static const PackedProducts products{"avx2", vector_round_row<LanesAvx2>, vector_packed_product<LanesAvx2>};
  return products;
}

}  // namespace draftscope::engine::cpu
