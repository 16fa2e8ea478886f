// SPDX-License-Identifier: GPL-3.0-or-later
// Plain numbers, and blocks of 32 weights with one scale.
#include <cstring>

#include "cpu/kernels/bf16.h"
#include "unpack.h"

namespace draftscope::engine::gguf {
namespace {

using cpu::load_unaligned;

float half_at(const std::byte* address) {
  return cpu::f16_to_float(load_unaligned<std::uint16_t>(address));
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

}  // namespace

void unpack_f32(const std::byte* numbers, std::size_t count, float* out) {
  std::memcpy(out, numbers, count * sizeof(float));
}

void unpack_f16(const std::byte* numbers, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = half_at(numbers + 2 * i);
}

void unpack_bf16(const std::byte* numbers, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = cpu::bf16_to_float(load_unaligned<std::uint16_t>(numbers + 2 * i));
}

void unpack_q8_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  for (std::size_t i = 0; i < Q8_0::weights; ++i)
    out[i] = scale * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
}

void unpack_q4_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  unpack_nibbles(block + 2, out, [=](std::size_t, std::uint32_t q) {
    return scale * static_cast<float>(static_cast<int>(q) - 8);
  });
}

void unpack_q4_1(const std::byte* block, float* out) {
  const float scale = half_at(block);
  const float minimum = half_at(block + 2);
  unpack_nibbles(block + 4, out,
                 [=](std::size_t, std::uint32_t q) { return scale * static_cast<float>(q) + minimum; });
}

void unpack_q5_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  const auto bits = load_unaligned<std::uint32_t>(block + 2);
  unpack_nibbles(block + 6, out, [=](std::size_t i, std::uint32_t q) {
    return scale * static_cast<float>(with_fifth_bit(bits, i, q) - 16);
  });
}

void unpack_q5_1(const std::byte* block, float* out) {
  const float scale = half_at(block);
  const float minimum = half_at(block + 2);
  const auto bits = load_unaligned<std::uint32_t>(block + 4);
  unpack_nibbles(block + 8, out, [=](std::size_t i, std::uint32_t q) {
    return scale * static_cast<float>(with_fifth_bit(bits, i, q)) + minimum;
  });
}

}  // namespace draftscope::engine::gguf
