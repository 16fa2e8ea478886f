// SPDX-License-Identifier: GPL-3.0-or-later
// AMX tiles for products of bf16 weights; all else is the AVX-512 BF16 set's.

#include <immintrin.h>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/tile_product.h"

namespace draftscope::engine::cpu {
namespace {

/// Transposes 16 vectors of 16: out[i][j] = in[j][i].
void transpose(const float (&in)[tile_rows][tile_rows], float (&out)[tile_rows][tile_rows]) {
  __m512 pairs[16];
  for (int i = 0; i < 16; i += 2) {
    const __m512 a = _mm512_load_ps(in[i]);
    const __m512 b = _mm512_load_ps(in[i + 1]);
    pairs[i] = _mm512_unpacklo_ps(a, b);
    pairs[i + 1] = _mm512_unpackhi_ps(a, b);
  }
  __m512 fours[16];  // [4 · row of four + column in a lane]
  for (int i = 0; i < 16; i += 4)
    for (int half = 0; half < 2; ++half) {
      const __m512d a = _mm512_castps_pd(pairs[i + half]);
      const __m512d b = _mm512_castps_pd(pairs[i + 2 + half]);
      fours[i + 2 * half] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      fours[i + 2 * half + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  for (int i = 0; i < 4; ++i) {
    const __m512 low_even = _mm512_shuffle_f32x4(fours[i], fours[4 + i], 0x88);
    const __m512 low_odd = _mm512_shuffle_f32x4(fours[i], fours[4 + i], 0xdd);
    const __m512 high_even = _mm512_shuffle_f32x4(fours[8 + i], fours[12 + i], 0x88);
    const __m512 high_odd = _mm512_shuffle_f32x4(fours[8 + i], fours[12 + i], 0xdd);
    _mm512_store_ps(out[i], _mm512_shuffle_f32x4(low_even, high_even, 0x88));
    _mm512_store_ps(out[4 + i], _mm512_shuffle_f32x4(low_odd, high_odd, 0x88));
    _mm512_store_ps(out[8 + i], _mm512_shuffle_f32x4(low_even, high_even, 0xdd));
    _mm512_store_ps(out[12 + i], _mm512_shuffle_f32x4(low_odd, high_odd, 0xdd));
  }
}

/// Tile registers: C is 2 · weight + group, A is 4 + weight, B is 6 + group. They are configured on
/// construction and released on destruction, because oneDNN uses tiles too.
class AmxTiles {
 public:
  AmxTiles(int columns, int second_columns) : columns_{columns, second_columns} {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1;
      std::uint8_t start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {};
      std::uint8_t rows[16] = {};
    } configuration;
    static_assert(sizeof(Configuration) == 64);
    for (int group = 0; group < 2; ++group)
      for (const int tile : {group, 2 + group, 6 + group}) {
        configuration.row_bytes[tile] = static_cast<std::uint16_t>(4 * columns_[group]);
        configuration.rows[tile] = columns_[group] > 0 ? 16 : 0;
      }
    for (const int tile : {4, 5}) {
      configuration.row_bytes[tile] = 64;
      configuration.rows[tile] = 16;
    }
    // GCC 12 assumes that only 8 of the 64 bytes are read.
    asm volatile("" : : "r"(&configuration) : "memory");
    _tile_loadconfig(&configuration);
  }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;
  ~AmxTiles() { _tile_release(); }

  void zero() {
    _tile_zero(0);
    _tile_zero(2);
    if (columns_[1] == 0) return;
    _tile_zero(1);
    _tile_zero(3);
  }
  template <int weights, int groups>
  [[gnu::always_inline]] void add(const std::byte* at, std::int64_t row_bytes, const std::byte* pairs,
                                  std::int64_t group_bytes) {
    _tile_loadd(6, pairs, 64);
    _tile_loadd(4, at, row_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (groups > 1) {
      _tile_loadd(7, pairs + group_bytes, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (weights > 1) {
      _tile_loadd(5, at + tile_rows * row_bytes, row_bytes);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (groups > 1) _tile_dpbf16ps(3, 5, 7);
    }
  }
  template <int weight, int group>
  void store(float (&sums)[tile_rows][tile_rows]) {
    constexpr int tile = 2 * weight + group;
    if (columns_[group] == 1) {  // A single column is already a row.
      store_tile<tile>(&sums[0][0], 4);
      return;
    }
    alignas(64) float stored[tile_rows][tile_rows];
    store_tile<tile>(&stored[0][0], 64);
    transpose(stored, sums);
  }

 private:
  template <int tile>
  [[gnu::always_inline]] static void store_tile(float* sums, std::int64_t row_bytes) {
    if constexpr (tile == 0) _tile_stored(0, sums, row_bytes);
    if constexpr (tile == 1) _tile_stored(1, sums, row_bytes);
    if constexpr (tile == 2) _tile_stored(2, sums, row_bytes);
    if constexpr (tile == 3) _tile_stored(3, sums, row_bytes);
  }

  int columns_[2];
};

/// Applies tile_round to 16 values, each in the low half of its 32 bits.
__m512i round_values(__m512i bits) {
  const __m512i high = _mm512_srli_epi32(bits, 16);
  const __m512i up =
      _mm512_add_epi32(_mm512_and_si512(high, _mm512_set1_epi32(1)), _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, up), 16);
  const __mmask16 nan = _mm512_cmpgt_epi32_mask(_mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff)),
                                                _mm512_set1_epi32(0x7f800000));
  return _mm512_mask_or_epi32(rounded, nan, high, _mm512_set1_epi32(0x40));
}

/// Writes the same set as tile_pack, sixteen pairs at a time.
void amx_pack(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  const __m512i places = _mm512_slli_epi32(even, 3);  // The row of a pair is 16 numbers of 32 bits.
  for (std::int64_t k = 0; k < depth; k += tile_depth) {
    const std::int64_t left = depth - k;
    const auto mask = static_cast<std::uint32_t>(left < tile_depth ? (1U << left) - 1U : ~0U);
    const __m512i first = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), row + k);
    const __m512i second = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask >> 16), row + k + 16);
    const __m512i low = round_values(_mm512_permutex2var_epi32(first, even, second));
    const __m512i high = round_values(_mm512_permutex2var_epi32(first, odd, second));
    _mm512_i32scatter_epi32(tile_element(set, index, k, depth), places,
                            _mm512_or_si512(low, _mm512_slli_epi32(high, 16)), 4);
  }
}

}  // namespace

const Kernels& amx_bf16_kernels() {
  static const Kernels kernels = [] {
    Kernels set = avx512_bf16_kernels();
    set.name = "amx-bf16";
    const auto set_bytes = [](std::int32_t rows, std::int64_t depth) { return tile_set_bytes(rows, depth); };
    set.products[static_cast<std::size_t>(DType::bf16)] = {set_bytes, amx_pack, tile_product<AmxTiles>};
    return set;
  }();
  return kernels;
}

}  // namespace draftscope::engine::cpu
