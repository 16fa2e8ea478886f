// SPDX-License-Identifier: GPL-3.0-or-later
// AMX tiles for products of bf16 weights; all else is the AVX-512 BF16 set's.

#include <immintrin.h>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/tile_product.h"

namespace draftscope::engine::cpu {
namespace {

/// Tile registers: 0 = C, 1 = A, 2 = B. Configured when made and released after, because oneDNN uses tiles
/// too.
class AmxTiles {
 public:
  explicit AmxTiles(int columns) {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1;
      std::uint8_t start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {};
      std::uint8_t rows[16] = {};
    } configuration;
    static_assert(sizeof(Configuration) == 64);
    const auto column_bytes = static_cast<std::uint16_t>(4 * columns);
    configuration.row_bytes[0] = column_bytes;
    configuration.row_bytes[1] = 64;
    configuration.row_bytes[2] = column_bytes;
    for (int tile = 0; tile < 3; ++tile) configuration.rows[tile] = 16;
    _tile_loadconfig(&configuration);
  }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;
  ~AmxTiles() { _tile_release(); }

  void zero() { _tile_zero(0); }
  void add(const std::byte* weights, std::int64_t row_bytes, const std::byte* pairs) {
    _tile_loadd(1, weights, row_bytes);
    _tile_loadd(2, pairs, 64);
    _tile_dpbf16ps(0, 1, 2);
  }
  void store(float* sums) { _tile_stored(0, sums, 64); }
};

}  // namespace

const Kernels& amx_bf16_kernels() {
  static const Kernels kernels = [] {
    Kernels set = avx512_bf16_kernels();
    set.name = "amx-bf16";
    set.products[static_cast<std::size_t>(DType::bf16)] = {tile_set_bytes, tile_pack, tile_product<AmxTiles>};
    return set;
  }();
  return kernels;
}

}  // namespace draftscope::engine::cpu
