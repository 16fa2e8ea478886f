// SPDX-License-Identifier: GPL-3.0-or-later
#include "stored_blocks.h"

#include "checkpoint/gguf/unpack.h"
#include "numbers/bf16.h"

namespace draftscope::engine::cpu {
namespace {

using speculation::WeightFormat;

unsigned byte_at(const std::byte* address) {
  return static_cast<unsigned>(*address);
}

/// `bits` bits from bit `from` on.
unsigned bits_of(const std::byte* address, std::size_t from, unsigned bits) {
  return (byte_at(address) >> from) & ((1U << bits) - 1U);
}

/// Blocks of 32 with nibbles at the end, fifth bits before them.
template <typename Stored>
QuantisedBlock read_nibbles(const std::byte* stored, bool has_minimum, bool has_fifth_bits) {
  QuantisedBlock block;
  block.scale = load_unaligned<std::uint16_t>(stored);
  if (has_minimum) block.minimum = load_unaligned<std::uint16_t>(stored + 2);
  const std::byte* const nibbles = stored + Stored::bytes - 16;
  const std::uint32_t fifth = has_fifth_bits ? load_unaligned<std::uint32_t>(nibbles - 4) : 0;
  for (std::size_t i = 0; i < 32; ++i)
    block.quants[i] =
        static_cast<std::uint8_t>(bits_of(nibbles + i % 16, i / 16 * 4, 4) | ((fifth >> i) & 1U) << 4U);
  return block;
}

QuantisedBlock read_q8_0(const std::byte* stored) {
  QuantisedBlock block;
  block.scale = load_unaligned<std::uint16_t>(stored);
  for (std::size_t i = 0; i < 32; ++i)
    block.quants[i] = static_cast<std::uint8_t>(byte_at(stored + 2 + i) ^ 0x80U);  // less −128
  return block;
}

/// Q4_K, and Q5_K with its fifth bits.
QuantisedBlock read_two_levels(const std::byte* stored, std::size_t sub, const std::byte* fifth_bits,
                               const std::byte* packed) {
  QuantisedBlock block;
  block.scale = load_unaligned<std::uint16_t>(stored);
  block.minimum = load_unaligned<std::uint16_t>(stored + 2);
  const std::byte* const scales = stored + 4;
  unsigned scale = 0;
  unsigned minimum = 0;
  if (sub < 4) {
    scale = bits_of(scales + sub, 0, 6);
    minimum = bits_of(scales + sub + 4, 0, 6);
  } else {
    scale = bits_of(scales + sub + 4, 0, 4) | bits_of(scales + sub - 4, 6, 2) << 4U;
    minimum = bits_of(scales + sub + 4, 4, 4) | bits_of(scales + sub, 6, 2) << 4U;
  }
  block.own_scales[0] = static_cast<std::int8_t>(scale);
  block.own_minimum = static_cast<std::int8_t>(minimum);
  for (std::size_t i = 0; i < 32; ++i) {
    unsigned quant = bits_of(packed + sub / 2 * 32 + i, sub % 2 * 4, 4);
    if (fifth_bits != nullptr) quant |= bits_of(fifth_bits + i, sub, 1) << 4U;
    block.quants[i] = static_cast<std::uint8_t>(quant);
  }
  return block;
}

QuantisedBlock read_q6_k(const std::byte* stored, std::size_t sub) {
  QuantisedBlock block;
  block.scale = load_unaligned<std::uint16_t>(stored + 208);
  const std::size_t k = sub % 4;
  const std::byte* const low = stored + sub / 4 * 64 + k % 2 * 32;
  const std::byte* const high = stored + 128 + sub / 4 * 32;
  for (std::size_t half = 0; half < 2; ++half)
    block.own_scales[half] = static_cast<std::int8_t>(stored[192 + sub * 2 + half]);
  for (std::size_t i = 0; i < 32; ++i)
    block.quants[i] =
        static_cast<std::uint8_t>(bits_of(low + i, k / 2 * 4, 4) | bits_of(high + i, 2 * k, 2) << 4U);
  return block;
}

}  // namespace

QuantisedBlock read_stored_block(WeightFormat format, const std::byte* row, std::int64_t block) {
  using namespace gguf;  // the formats' sizes
  const std::byte* const own_super = row + block / blocks_of_two_levels *
                                               (format == WeightFormat::q4_k   ? Q4_K::bytes
                                                : format == WeightFormat::q5_k ? Q5_K::bytes
                                                                               : Q6_K::bytes);
  const auto sub = static_cast<std::size_t>(block % blocks_of_two_levels);
  switch (format) {
    case WeightFormat::q5_1:
      return read_nibbles<Q5_1>(row + block * Q5_1::bytes, true, true);
    case WeightFormat::q5_0:
      return read_nibbles<Q5_0>(row + block * Q5_0::bytes, false, true);
    case WeightFormat::q4_1:
      return read_nibbles<Q4_1>(row + block * Q4_1::bytes, true, false);
    case WeightFormat::q4_0:
      return read_nibbles<Q4_0>(row + block * Q4_0::bytes, false, false);
    case WeightFormat::q4_k:
      return read_two_levels(own_super, sub, nullptr, own_super + 16);
    case WeightFormat::q5_k:
      return read_two_levels(own_super, sub, own_super + 16, own_super + 48);
    case WeightFormat::q6_k:
      return read_q6_k(own_super, sub);
    default:
      return read_q8_0(row + block * Q8_0::bytes);
  }
}

}  // namespace draftscope::engine::cpu
