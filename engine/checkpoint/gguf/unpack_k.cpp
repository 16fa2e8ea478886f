// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks of 256 weights whose sub-blocks have scales of their own.
#include "cpu/kernels/bf16.h"
#include "unpack.h"

namespace draftscope::engine::gguf {
namespace {

std::uint32_t byte_at(const std::byte* address) {
  return static_cast<std::uint32_t>(*address);
}

float half(const std::byte* address) {
  return cpu::f16_to_float(cpu::load_unaligned<std::uint16_t>(address));
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

}  // namespace

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

}  // namespace draftscope::engine::gguf
