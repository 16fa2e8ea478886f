// SPDX-License-Identifier: GPL-3.0-or-later
// Every type of tensor: a struct says how a block lies in a file and how it is read. Layouts and formulas are
// those of ggml, as the Python package gguf computes them, to which the tests hold these functions. Bytes are
// little-endian, at any alignment. "Nibbles" of bytes b₀ … b₁₅: weight i < 16 is the low half of bᵢ, weight
// 16 + i its high half. Each product and sum is rounded to fp32 in the order that the formula shows.

#include "formats/block_formats.h"

#include <array>
#include <bit>

#include "numbers/bf16.h"
#include "numbers/e4m3.h"

namespace draftscope::engine::gguf {
namespace {

using cpu::QuantisedBlock;
using speculation::WeightFormat;

unsigned byte_at(const std::byte* address) {
  return static_cast<unsigned>(*address);
}

/// Extracts `bits` bits from bit `from` on.
unsigned bits_of(const std::byte* address, std::size_t from, unsigned bits) {
  return (byte_at(address) >> from) & ((1U << bits) - 1U);
}

std::uint16_t half_at(const std::byte* address) {
  return load_unaligned<std::uint16_t>(address);
}

// Types whose blocks are multiplied as they are. Their read() returns 32 weights of a block: part `part` of
// it.

/// A block has 2 bytes d (fp16) and 32 signed bytes q: w = d · q.
struct Q8_0 {
  static constexpr std::uint32_t weights = 32, bytes = 34;
  static QuantisedBlock read(const std::byte* block, std::size_t /*part*/) {
    QuantisedBlock result;
    result.scale = half_at(block);
    // Adds 128, which makes the byte unsigned.
    for (std::size_t i = 0; i < 32; ++i)
      result.quants[i] = static_cast<std::uint8_t>(byte_at(block + 2 + i) ^ 0x80U);
    return result;
  }
};

/// A block has 2 bytes d; 2 bytes m (fp16) if it has minima; 4 bytes of fifth bits (bit i belongs to weight
/// i) if it has those; 16 bytes of nibbles q. Then w = d · q + m, or w = d · (q − 8), or (q − 16) with fifth
/// bits.
template <bool has_minimum, bool has_fifth_bits>
struct Nibbles {
  static constexpr std::uint32_t weights = 32;
  static constexpr std::uint32_t bytes = 18 + (has_minimum ? 2 : 0) + (has_fifth_bits ? 4 : 0);
  static QuantisedBlock read(const std::byte* block, std::size_t /*part*/) {
    QuantisedBlock result;
    result.scale = half_at(block);
    if constexpr (has_minimum) result.minimum = half_at(block + 2);
    const std::byte* const nibbles = block + bytes - 16;
    std::uint32_t fifth = 0;
    if constexpr (has_fifth_bits) fifth = load_unaligned<std::uint32_t>(nibbles - 4);
    for (std::size_t i = 0; i < 32; ++i)
      result.quants[i] =
          static_cast<std::uint8_t>(bits_of(nibbles + i % 16, i / 16 * 4, 4) | ((fifth >> i) & 1U) << 4U);
    return result;
  }
};
using Q4_0 = Nibbles<false, false>;
using Q4_1 = Nibbles<true, false>;
using Q5_0 = Nibbles<false, true>;
using Q5_1 = Nibbles<true, true>;

/// A block has 8 parts of 32 weights: 2 bytes d, 2 bytes e (fp16), 12 bytes with 8 scales s and 8 minima m of
/// 6 bits. If it has fifth bits, 32 bytes of them follow: bit j of byte i belongs to weight i of part j. Then
/// come 128 bytes of nibbles: each 32 contain part 2j in their low halves and part 2j + 1 in their high
/// halves. w = (d · s) · q − (e · m). Scales: bytes 0–3 have s₀–s₃ in their low 6 bits, bytes 4–7 have m₀–m₃.
/// Bytes 8–11 have the low 4 bits of s₄–s₇ in their low halves and of m₄–m₇ in their high halves. Their upper
/// 2 bits are the upper ones of bytes 0–3 and 4–7.
template <bool has_fifth_bits>
struct SixBitScales {
  static constexpr std::uint32_t weights = 256;
  static constexpr std::uint32_t bytes = has_fifth_bits ? 176 : 144;
  static QuantisedBlock read(const std::byte* block, std::size_t part) {
    QuantisedBlock result;
    result.scale = half_at(block);
    result.minimum = half_at(block + 2);
    const std::byte* const scales = block + 4;
    unsigned scale = bits_of(scales + part % 4, 0, 6);
    unsigned minimum = bits_of(scales + part % 4 + 4, 0, 6);
    if (part >= 4) {
      scale = bits_of(scales + part + 4, 0, 4) | bits_of(scales + part - 4, 6, 2) << 4U;
      minimum = bits_of(scales + part + 4, 4, 4) | bits_of(scales + part, 6, 2) << 4U;
    }
    result.own_scales[0] = static_cast<std::int8_t>(scale);
    result.own_minimum = static_cast<std::int8_t>(minimum);
    const std::byte* const low = block + bytes - 128 + part / 2 * 32;
    for (std::size_t i = 0; i < 32; ++i) {
      unsigned quant = bits_of(low + i, part % 2 * 4, 4);
      if constexpr (has_fifth_bits) quant |= bits_of(block + 16 + i, part, 1) << 4U;
      result.quants[i] = static_cast<std::uint8_t>(quant);
    }
    return result;
  }
};
using Q4_K = SixBitScales<false>;
using Q5_K = SixBitScales<true>;

/// A block has 128 bytes of low 4 bits, 64 bytes of upper 2 bits, 16 signed scales s (one per 16 weights) and
/// 2 bytes d. Each half of 128 weights has 64 and 32 of these bytes. Weight 32k + i has its low bits in byte
/// (i + 32 (k mod 2)), its half k / 2, and its upper bits in byte i at bit 2k: w = (d · s) · (q − 32).
struct Q6_K {
  static constexpr std::uint32_t weights = 256, bytes = 210;
  static QuantisedBlock read(const std::byte* block, std::size_t part) {
    QuantisedBlock result;
    result.scale = half_at(block + 208);
    const std::size_t k = part % 4;
    const std::byte* const low = block + part / 4 * 64 + k % 2 * 32;
    const std::byte* const high = block + 128 + part / 4 * 32;
    for (std::size_t half = 0; half < 2; ++half)
      result.own_scales[half] = static_cast<std::int8_t>(block[192 + part * 2 + half]);
    for (std::size_t i = 0; i < 32; ++i)
      result.quants[i] =
          static_cast<std::uint8_t>(bits_of(low + i, k / 2 * 4, 4) | bits_of(high + i, 2 * k, 2) << 4U);
    return result;
  }
};

// Types whose nibbles are indices into a table of values; unpack() widens a block.

constexpr std::array<float, 16> uneven_steps{-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};
/// The values of FP4 (E2M1), multiplied by two.
constexpr std::array<float, 16> doubled_fp4{0, 1, 2, 3, 4, 6, 8, 12, -0.0F, -1, -2, -3, -4, -6, -8, -12};

void look_up(const std::array<float, 16>& table, float scale, const std::byte* nibbles, float* out) {
  for (std::size_t i = 0; i < 32; ++i) out[i] = scale * table[bits_of(nibbles + i % 16, i / 16 * 4, 4)];
}

/// A block has 2 bytes d and 16 bytes of nibbles q: w = d · table[q], with 16 values from −127 to 113.
struct IQ4_NL {
  static constexpr std::uint32_t weights = 32, bytes = 18;
  static void unpack(const std::byte* block, float* out) {
    look_up(uneven_steps, f16_to_float(half_at(block)), block + 2, out);
  }
};

/// A block has 8 parts of 32 weights. It has 2 bytes d, 2 bytes of upper scale bits (2 per part), 4 bytes of
/// lower ones (4 per part), then 128 bytes with 16 of nibbles per part. w = (d · (s − 32)) · table[q], with
/// IQ4_NL's table.
struct IQ4_XS {
  static constexpr std::uint32_t weights = 256, bytes = 136;
  static void unpack(const std::byte* block, float* out) {
    const float scale = f16_to_float(half_at(block));
    const unsigned upper = half_at(block + 2);
    for (std::size_t part = 0; part < 8; ++part) {
      const unsigned own = bits_of(block + 4 + part / 2, part % 2 * 4, 4) | ((upper >> (2 * part)) & 3U)
                                                                                << 4U;
      look_up(uneven_steps, scale * static_cast<float>(static_cast<int>(own) - 32), block + 8 + part * 16,
              out + part * 32);
    }
  }
};

/// A block has 1 byte e and 16 bytes of nibbles, each an FP4 (E2M1): w = 2^(e − 127) · fp4.
struct MXFP4 {
  static constexpr std::uint32_t weights = 32, bytes = 17;
  static void unpack(const std::byte* block, float* out) {
    // 2^(e − 128), since the table has doubled numbers; the two smallest values are subnormal.
    const unsigned exponent = byte_at(block);
    const std::uint32_t bits = exponent < 2 ? 0x0020'0000U << exponent : (exponent - 1) << 23U;
    look_up(doubled_fp4, std::bit_cast<float>(bits), block + 1, out);
  }
};

/// A number of 4 bits of exponent and 3 of mantissa; the sign is not read. The code that e4m3 has no number
/// for is 0.
float unsigned_e4m3(unsigned code) {
  const std::uint32_t exponent = code >> 3U & 15U;
  const std::uint32_t mantissa = code & 7U;
  if (code == 0x7FU) return 0.0F;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-9F;
  return std::bit_cast<float>((exponent + 120U) << 23U | mantissa << 20U);
}

/// A block has 4 unsigned e4m3 scales, then 8 bytes for each 16 weights: the low nibbles of these are the
/// first 8 weights, the high ones the others. w = s · fp4. The one code that e4m3 has no number for is 0
/// here.
struct NVFP4 {
  static constexpr std::uint32_t weights = 64, bytes = 36;
  static void unpack(const std::byte* block, float* out) {
    for (std::size_t part = 0; part < 4; ++part) {
      const float scale = unsigned_e4m3(byte_at(block + part));
      const std::byte* const nibbles = block + 4 + part * 8;
      for (std::size_t i = 0; i < 16; ++i)
        out[part * 16 + i] = scale * 0.5F * doubled_fp4[bits_of(nibbles + i % 8, i / 8 * 4, 4)];
    }
  }
};

// Types of 2 and 3 bits; unpack() widens a block. Weight i of a half h of 128 has its low bits in byte
// 32 h + i mod 32, from bit 2 (i / 32) on.

unsigned two_bits(const std::byte* low, std::size_t weight) {
  return bits_of(low + weight / 128 * 32 + weight % 32, weight % 128 / 32 * 2, 2);
}

/// A block has 16 bytes with a scale s (low half) and a minimum m (high half) for each 16 weights, 64 bytes
/// of quants, 2 bytes d, 2 bytes e: w = (d · s) · q − (e · m).
struct Q2_K {
  static constexpr std::uint32_t weights = 256, bytes = 84;
  static void unpack(const std::byte* block, float* out) {
    const float scale = f16_to_float(half_at(block + 80));
    const float minimum = f16_to_float(half_at(block + 82));
    for (std::size_t i = 0; i < weights; ++i) {
      const std::byte* const own = block + i / 16;
      const float step = scale * static_cast<float>(bits_of(own, 0, 4));
      out[i] = step * static_cast<float>(two_bits(block + 16, i)) -
               minimum * static_cast<float>(bits_of(own, 4, 4));
    }
  }
};

/// A block has 32 bytes of third bits (bit i / 32 of byte i mod 32; a clear one subtracts 4), 64 bytes of
/// quants, 12 bytes of 16 scales s, 2 bytes d. Bytes 0–7 of the scales have the low 4 bits of s₀–s₇ in their
/// low halves and of s₈–s₁₅ in their high ones. Byte 8 + k mod 4 has the upper 2 bits of sₖ from bit 2 (k /
/// 4) on. w = (d · (s − 32)) · q.
struct Q3_K {
  static constexpr std::uint32_t weights = 256, bytes = 110;
  static void unpack(const std::byte* block, float* out) {
    const float scale = f16_to_float(half_at(block + 108));
    const std::byte* const scales = block + 96;
    for (std::size_t i = 0; i < weights; ++i) {
      const std::size_t k = i / 16;
      const unsigned own = bits_of(scales + k % 8, k / 8 * 4, 4) | bits_of(scales + 8 + k % 4, k / 4 * 2, 2)
                                                                       << 4U;
      const int lower = bits_of(block + i % 32, i / 32, 1) == 0 ? 4 : 0;
      out[i] = scale * static_cast<float>(static_cast<int>(own) - 32) *
               static_cast<float>(static_cast<int>(two_bits(block + 32, i)) - lower);
    }
  }
};

// Builders of table rows.

/// A row for a type whose weights are plain numbers, read one by one.
template <DType dtype, float (*number_at)(const std::byte*)>
constexpr BlockFormat plain(std::uint32_t id, std::string_view name) {
  constexpr auto bytes = static_cast<std::uint32_t>(dtype_bytes(dtype));
  return {id,
          name,
          1,
          bytes,
          [](const std::byte* numbers, std::size_t count, float* out) {
            for (std::size_t i = 0; i < count; ++i) out[i] = number_at(numbers + i * bytes);
          },
          dtype};
}

float f32_at(const std::byte* number) {
  return load_unaligned<float>(number);
}
float f16_at(const std::byte* number) {
  return f16_to_float(half_at(number));
}
float bf16_at(const std::byte* number) {
  return bf16_to_float(half_at(number));
}

/// A row for a type whose blocks are multiplied as they are; widening uses their packed layout.
template <typename Block, WeightFormat format>
constexpr BlockFormat multiplied(std::uint32_t id, std::string_view name) {
  constexpr std::size_t parts = Block::weights / cpu::block_depth;
  return {id,
          name,
          Block::weights,
          Block::bytes,
          [](const std::byte* blocks, std::size_t count, float* out) {
            constexpr cpu::PackedLayout layout = *cpu::packed_layout(format);
            for (std::size_t i = 0; i < count * parts; ++i, out += cpu::block_depth)
              cpu::dequantise(layout, Block::read(blocks + i / parts * Block::bytes, i % parts), out);
          },
          std::nullopt,
          format,
          [](const std::byte* row, std::int64_t block) {
            const auto i = static_cast<std::size_t>(block);
            return Block::read(row + i / parts * Block::bytes, i % parts);
          }};
}

/// A row for a type that can only be widened.
template <typename Block>
constexpr BlockFormat widened(std::uint32_t id, std::string_view name) {
  return {id,
          name,
          Block::weights,
          Block::bytes,
          [](const std::byte* blocks, std::size_t count, float* out) {
            for (std::size_t i = 0; i < count; ++i)
              Block::unpack(blocks + i * Block::bytes, out + i * Block::weights);
          },
          std::nullopt};
}

constexpr BlockFormat named(std::uint32_t id, std::string_view name) {
  return {id, name, 0, 0, nullptr, std::nullopt};
}

// Ids and names are ggml's, as in the gguf package. Types that today's ggml has no longer say so.
#define DRAFTSCOPE_OLD ", made by builds of 2024 and before"
constexpr std::array formats{
    plain<DType::f32, f32_at>(0, "F32"),
    plain<DType::f16, f16_at>(1, "F16"),
    plain<DType::bf16, bf16_at>(30, "BF16"),
    multiplied<Q8_0, WeightFormat::q8_0>(8, "Q8_0"),
    multiplied<Q4_0, WeightFormat::q4_0>(2, "Q4_0"),
    multiplied<Q4_1, WeightFormat::q4_1>(3, "Q4_1"),
    multiplied<Q5_0, WeightFormat::q5_0>(6, "Q5_0"),
    multiplied<Q5_1, WeightFormat::q5_1>(7, "Q5_1"),
    multiplied<Q4_K, WeightFormat::q4_k>(12, "Q4_K"),
    multiplied<Q5_K, WeightFormat::q5_k>(13, "Q5_K"),
    multiplied<Q6_K, WeightFormat::q6_k>(14, "Q6_K"),
    widened<IQ4_NL>(20, "IQ4_NL"),
    widened<IQ4_XS>(23, "IQ4_XS"),
    widened<MXFP4>(39, "MXFP4"),
    widened<NVFP4>(40, "NVFP4"),
    widened<Q2_K>(10, "Q2_K"),
    widened<Q3_K>(11, "Q3_K"),
    // These types are refused by name.
    named(9, "Q8_1"),
    named(15, "Q8_K"),
    named(16, "IQ2_XXS"),
    named(17, "IQ2_XS"),
    named(18, "IQ3_XXS"),
    named(19, "IQ1_S"),
    named(21, "IQ3_S"),
    named(22, "IQ2_S"),
    named(24, "I8"),
    named(25, "I16"),
    named(26, "I32"),
    named(27, "I64"),
    named(28, "F64"),
    named(29, "IQ1_M"),
    named(34, "TQ1_0"),
    named(35, "TQ2_0"),
    named(41, "Q1_0"),
    named(42, "Q2_0"),
    named(4, "Q4_2" DRAFTSCOPE_OLD),
    named(5, "Q4_3" DRAFTSCOPE_OLD),
    named(31, "Q4_0_4_4" DRAFTSCOPE_OLD),
    named(32, "Q4_0_4_8" DRAFTSCOPE_OLD),
    named(33, "Q4_0_8_8" DRAFTSCOPE_OLD),
    named(36, "IQ4_NL_4_4" DRAFTSCOPE_OLD),
    named(37, "IQ4_NL_4_8" DRAFTSCOPE_OLD),
    named(38, "IQ4_NL_8_8" DRAFTSCOPE_OLD),
};
#undef DRAFTSCOPE_OLD

}  // namespace

const BlockFormat* find_block_format(std::uint32_t id) {
  for (const BlockFormat& format : formats)
    if (format.id == id) return &format;
  return nullptr;
}

std::string readable_formats() {
  std::string names;
  for (const BlockFormat& format : formats)
    if (format.is_readable()) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

}  // namespace draftscope::engine::gguf
