// SPDX-License-Identifier: GPL-3.0-or-later
// Plain numbers; blocks of 32 weights with one scale; blocks of 256 weights whose sub-blocks have scales of
// their own; blocks whose nibbles stand for the values of a table.

#include <array>
#include <bit>
#include <cstring>

#include "numbers/bf16.h"
#include "unpack.h"

namespace draftscope::engine::gguf {

namespace {

float half(const std::byte* address) {
  return f16_to_float(load_unaligned<std::uint16_t>(address));
}

/// Calls `weight(i, low or high half of byte i)`'s result into both halves of `out`.
template <typename Weight>
void unpack_nibbles(const std::byte* packed, float* out, const Weight& weight) {
  for (std::size_t i = 0; i < 16; ++i) {
    const auto byte = static_cast<std::uint32_t>(packed[i]);
    out[i] = weight(i, byte & 0xFU);
    out[i + 16] = weight(i + 16, byte >> 4U);
  }
}

/// The number with its fifth bit.
int with_fifth_bit(std::uint32_t bits, std::size_t i, std::uint32_t low) {
  return static_cast<int>(low | ((bits >> i) & 1U) << 4U);
}

std::uint32_t byte_at(const std::byte* address) {
  return static_cast<std::uint32_t>(*address);
}

struct ScaleAndMinimum {
  std::uint32_t scale;
  std::uint32_t minimum;
};

/// Scale and minimum of sub-block `j`, out of 12 bytes.
ScaleAndMinimum six_bits(const std::byte* packed, std::size_t j) {
  if (j < 4) return {byte_at(packed + j) & 63U, byte_at(packed + j + 4) & 63U};
  const std::uint32_t low = byte_at(packed + j + 4);
  return {(low & 0xFU) | (byte_at(packed + j - 4) >> 6U) << 4U, (low >> 4U) | (byte_at(packed + j) >> 6U)
                                                                                  << 4U};
}

/// Q4_K, and Q5_K where `fifth_bits` is there.
void unpack_with_minima(const std::byte* block, const std::byte* fifth_bits, const std::byte* packed,
                        float* out) {
  const float scale = half(block);
  const float minimum = half(block + 2);
  for (std::size_t j = 0; j < 8; ++j) {
    const auto own = six_bits(block + 4, j);
    const float step = scale * static_cast<float>(own.scale);
    const float offset = minimum * static_cast<float>(own.minimum);
    const std::byte* const bytes = packed + j / 2 * 32;
    for (std::size_t i = 0; i < 32; ++i) {
      std::uint32_t q = (byte_at(bytes + i) >> (j % 2 * 4)) & 0xFU;
      if (fifth_bits != nullptr) q |= ((byte_at(fifth_bits + i) >> j) & 1U) << 4U;
      out[j * 32 + i] = step * static_cast<float>(q) - offset;
    }
  }
}

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
  return f16_to_float(load_unaligned<std::uint16_t>(address));
}

}  // namespace

void unpack_f32(const std::byte* numbers, std::size_t count, float* out) {
  std::memcpy(out, numbers, count * sizeof(float));
}

void unpack_f16(const std::byte* numbers, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = half(numbers + 2 * i);
}

void unpack_bf16(const std::byte* numbers, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = bf16_to_float(load_unaligned<std::uint16_t>(numbers + 2 * i));
}

void unpack_q8_0(const std::byte* block, float* out) {
  const float scale = half(block);
  for (std::size_t i = 0; i < Q8_0::weights; ++i)
    out[i] = scale * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
}

void unpack_q4_0(const std::byte* block, float* out) {
  const float scale = half(block);
  unpack_nibbles(block + 2, out, [=](std::size_t, std::uint32_t q) {
    return scale * static_cast<float>(static_cast<int>(q) - 8);
  });
}

void unpack_q4_1(const std::byte* block, float* out) {
  const float scale = half(block);
  const float minimum = half(block + 2);
  unpack_nibbles(block + 4, out,
                 [=](std::size_t, std::uint32_t q) { return scale * static_cast<float>(q) + minimum; });
}

void unpack_q5_0(const std::byte* block, float* out) {
  const float scale = half(block);
  const auto bits = load_unaligned<std::uint32_t>(block + 2);
  unpack_nibbles(block + 6, out, [=](std::size_t i, std::uint32_t q) {
    return scale * static_cast<float>(with_fifth_bit(bits, i, q) - 16);
  });
}

void unpack_q5_1(const std::byte* block, float* out) {
  const float scale = half(block);
  const float minimum = half(block + 2);
  const auto bits = load_unaligned<std::uint32_t>(block + 4);
  unpack_nibbles(block + 8, out, [=](std::size_t i, std::uint32_t q) {
    return scale * static_cast<float>(with_fifth_bit(bits, i, q)) + minimum;
  });
}

void unpack_q4_k(const std::byte* block, float* out) {
  unpack_with_minima(block, nullptr, block + 16, out);
}

void unpack_q5_k(const std::byte* block, float* out) {
  unpack_with_minima(block, block + 16, block + 48, out);
}

void unpack_q6_k(const std::byte* block, float* out) {
  const float scale = half(block + 208);
  for (std::size_t group = 0; group < 8; ++group) {  // of 32 weights, four in each half
    const std::size_t k = group % 4;
    const std::byte* const low = block + group / 4 * 64 + k % 2 * 32;
    const std::byte* const high = block + 128 + group / 4 * 32;
    const std::byte* const scales = block + 192 + group * 2;
    for (std::size_t i = 0; i < 32; ++i) {
      const float step = scale * static_cast<float>(static_cast<std::int8_t>(scales[i / 16]));
      const std::uint32_t q =
          ((byte_at(low + i) >> (k / 2 * 4)) & 0xFU) | ((byte_at(high + i) >> (2 * k)) & 3U) << 4U;
      out[group * 32 + i] = step * static_cast<float>(static_cast<int>(q) - 32);
    }
  }
}

void unpack_iq4_nl(const std::byte* block, float* out) {
  look_up(uneven_steps, half_of(block), block + 2, out);
}

void unpack_iq4_xs(const std::byte* block, float* out) {
  const float scale = half_of(block);
  const std::uint32_t upper = load_unaligned<std::uint16_t>(block + 2);
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
