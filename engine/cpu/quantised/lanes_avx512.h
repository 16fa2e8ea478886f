// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Vectors of sixteen outputs, for the sets with and without VPDPBUSD. Included only by files compiled for
// AVX-512.

#include <immintrin.h>
#include <cstddef>
#include <cstdint>

#include "activations.h"

namespace draftscope::engine::cpu {

/// Operations that both sets share. Always inlined, since two files compile them for different processors.
struct LanesOfSixteen {
  using Ints = __m512i;
  using Floats = __m512;
  static constexpr int width = 16;
  static constexpr int max_rows = 8;

  [[gnu::always_inline]] static Ints load(const std::byte* p) { return _mm512_loadu_si512(p); }
  [[gnu::always_inline]] static Ints bit_or(Ints a, Ints b) { return _mm512_or_si512(a, b); }
  /// Moves `bits` bits of each byte from bit `from` to bit `to`.
  template <int from, int bits, int to>
  [[gnu::always_inline]] static Ints bits_at(Ints w) {
    if constexpr (from > to) w = _mm512_srli_epi16(w, from - to);
    if constexpr (from < to) w = _mm512_slli_epi16(w, to - from);
    return _mm512_and_si512(w, _mm512_set1_epi8(static_cast<char>(((1 << bits) - 1) << to)));
  }
  [[gnu::always_inline]] static Ints no_ints() { return _mm512_setzero_si512(); }
  [[gnu::always_inline]] static Ints all_ints(std::int32_t x) { return _mm512_set1_epi32(x); }
  [[gnu::always_inline]] static Floats zero() { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static Floats all(const float* x) { return _mm512_set1_ps(*x); }
  [[gnu::always_inline]] static Floats halves(const std::byte* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  /// Loads sixteen signed bytes.
  [[gnu::always_inline]] static Floats bytes(const std::byte* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  [[gnu::always_inline]] static Floats to_floats(Ints x) { return _mm512_cvtepi32_ps(x); }
  [[gnu::always_inline]] static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  [[gnu::always_inline]] static Floats negative(Floats a) {
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MIN)));
  }
  [[gnu::always_inline]] static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  [[gnu::always_inline]] static void store(float* p, Floats x) { _mm512_storeu_ps(p, x); }

  [[gnu::always_inline]] static std::int32_t four(const std::byte* p) {
    std::int32_t value = 0;
    __builtin_memcpy(&value, p, sizeof value);
    return value;
  }

  [[gnu::always_inline]] static void round(const float* values, ActivationBlock& block) {
    const __m512 first = _mm512_loadu_ps(values);
    const __m512 second = _mm512_loadu_ps(values + 16);
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const auto largest = static_cast<std::uint32_t>(
        _mm512_reduce_max_epi32(_mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(first), magnitude),
                                                 _mm512_and_si512(_mm512_castps_si512(second), magnitude))));
    const Rounding rounding = rounding_of(largest);
    const __m512 inverse = _mm512_set1_ps(rounding.inverse);
    const __mmask16 keep = rounding.inverse != 0.0F ? 0xffff : 0;  // NaN · 0 is not zero.
    const __m512i a = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(first, inverse));
    const __m512i b = _mm512_maskz_cvtps_epi32(keep, _mm512_mul_ps(second, inverse));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(block.quants), _mm512_cvtepi32_epi8(a));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(block.quants + 16), _mm512_cvtepi32_epi8(b));
    finish_block(block, rounding.scale, _mm512_reduce_add_epi32(a), _mm512_reduce_add_epi32(b));
  }
};

/// Lanes without VPDPBUSD. VPMADDUBSW adds two products in 16 bits, which has room for all weights except
/// those of 8 unsigned bits.
struct LanesAvx512 : LanesOfSixteen {
  /// Weights of 8 bits become signed; their signs move to the activations.
  template <bool is_signed>
  struct WeightOf {
    Ints magnitude;
    __mmask64 negative;
  };
  template <int bits>
  [[gnu::always_inline]] static WeightOf<bits == 8> weight(Ints w) {
    if constexpr (bits < 8) return {w, 0};
    w = _mm512_xor_si512(w, _mm512_set1_epi8(static_cast<char>(0x80)));
    return {_mm512_abs_epi8(w), _mm512_movepi8_mask(w)};
  }
  template <int bits, int zero_bits>
  [[gnu::always_inline]] static Ints start(Ints negative_sum) {
    if constexpr (bits == 8) return no_ints();
    return _mm512_slli_epi32(negative_sum, zero_bits);
  }
  template <bool is_signed>
  [[gnu::always_inline]] static Ints dot(Ints sum, WeightOf<is_signed> w, const std::byte* four_values) {
    Ints x = _mm512_set1_epi32(four(four_values));
    if constexpr (is_signed) x = _mm512_mask_sub_epi8(x, w.negative, no_ints(), x);
    return _mm512_add_epi32(sum,
                            _mm512_madd_epi16(_mm512_maddubs_epi16(w.magnitude, x), _mm512_set1_epi16(1)));
  }
};

#if defined(__AVX512VNNI__)
struct LanesAvx512Vnni : LanesOfSixteen {
  template <int bits>
  [[gnu::always_inline]] static Ints weight(Ints w) {
    return w;
  }
  template <int bits, int zero_bits>
  [[gnu::always_inline]] static Ints start(Ints negative_sum) {
    return _mm512_slli_epi32(negative_sum, zero_bits);
  }
  [[gnu::always_inline]] static Ints dot(Ints sum, Ints w, const std::byte* four_values) {
    return _mm512_dpbusd_epi32(sum, w, _mm512_set1_epi32(four(four_values)));
  }
};
#endif

}  // namespace draftscope::engine::cpu
