// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks whose nibbles stand for the values of a table.
#include <array>
#include <bit>

#include "cpu/kernels/bf16.h"
#include "unpack.h"

namespace draftscope::engine::gguf {
namespace {

constexpr std::array<float, 16> uneven_steps{-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};
/// FP4 (E2M1) times two.
constexpr std::array<float, 16> doubled_fp4{0, 1, 2, 3, 4, 6, 8, 12, -0.0F, -1, -2, -3, -4, -6, -8, -12};

void look_up(const std::array<float, 16>& table, float scale, const std::byte* packed, float* out) {
  for (std::size_t i = 0; i < 16; ++i) {
    const auto byte = static_cast<std::size_t>(packed[i]);
    out[i] = scale * table[byte & 0xFU];
    out[i + 16] = scale * table[byte >> 4U];
  }
}

float half_of(const std::byte* address) {
  return cpu::f16_to_float(cpu::load_unaligned<std::uint16_t>(address));
}

}  // namespace

void unpack_iq4_nl(const std::byte* block, float* out) {
  look_up(uneven_steps, half_of(block), block + 2, out);
}

void unpack_iq4_xs(const std::byte* block, float* out) {
  const float scale = half_of(block);
  const std::uint32_t upper = cpu::load_unaligned<std::uint16_t>(block + 2);
  for (std::size_t j = 0; j < 8; ++j) {
    const std::uint32_t lower = static_cast<std::uint32_t>(block[4 + j / 2]) >> (j % 2 * 4);
    const std::uint32_t own = (lower & 0xFU) | ((upper >> (2 * j)) & 3U) << 4U;
    look_up(uneven_steps, scale * static_cast<float>(static_cast<int>(own) - 32), block + 8 + j * 16,
            out + j * 32);
  }
}

void unpack_mxfp4(const std::byte* block, float* out) {
  // 2^(e − 128), as the table has the numbers doubled; the two smallest are subnormal.
  const auto exponent = static_cast<std::uint32_t>(block[0]);
  const std::uint32_t bits = exponent < 2 ? 0x0020'0000U << exponent : (exponent - 1) << 23U;
  look_up(doubled_fp4, std::bit_cast<float>(bits), block + 1, out);
}

}  // namespace draftscope::engine::gguf
