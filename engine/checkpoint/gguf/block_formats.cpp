// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_formats.h"

#include <array>

#include "unpack.h"

namespace draftscope::engine::gguf {
namespace {

/// Block after block.
template <typename Block, void (*unpack_one)(const std::byte*, float*)>
constexpr BlockFormat packed(std::uint32_t id, std::string_view name,
                             std::optional<speculation::WeightFormat> multiplied = std::nullopt) {
  return {id,
          name,
          Block::weights,
          Block::bytes,
          [](const std::byte* blocks, std::size_t count, float* out) {
            for (std::size_t i = 0; i < count; ++i)
              unpack_one(blocks + i * Block::bytes, out + i * Block::weights);
          },
          std::nullopt,
          multiplied};
}

constexpr BlockFormat named(std::uint32_t id, std::string_view name) {
  return {id, name, 0, 0, nullptr, std::nullopt};
}

// Ids and names: ggml's, as the gguf package has them.
constexpr std::array formats{
    BlockFormat{0, "F32", 1, 4, unpack_f32, DType::f32},
    BlockFormat{1, "F16", 1, 2, unpack_f16, DType::f16},
    BlockFormat{30, "BF16", 1, 2, unpack_bf16, DType::bf16},
    packed<Q8_0, unpack_q8_0>(8, "Q8_0", speculation::WeightFormat::q8_0),
    packed<Q4_0, unpack_q4_0>(2, "Q4_0", speculation::WeightFormat::q4_0),
    packed<Q4_1, unpack_q4_1>(3, "Q4_1", speculation::WeightFormat::q4_1),
    packed<Q5_0, unpack_q5_0>(6, "Q5_0", speculation::WeightFormat::q5_0),
    packed<Q5_1, unpack_q5_1>(7, "Q5_1", speculation::WeightFormat::q5_1),
    packed<Q4_K, unpack_q4_k>(12, "Q4_K", speculation::WeightFormat::q4_k),
    packed<Q5_K, unpack_q5_k>(13, "Q5_K", speculation::WeightFormat::q5_k),
    packed<Q6_K, unpack_q6_k>(14, "Q6_K", speculation::WeightFormat::q6_k),
    packed<IQ4_NL, unpack_iq4_nl>(20, "IQ4_NL"),
    packed<IQ4_XS, unpack_iq4_xs>(23, "IQ4_XS"),
    packed<MXFP4, unpack_mxfp4>(39, "MXFP4"),
    // Refused by name.
    named(9, "Q8_1"),
    named(10, "Q2_K"),
    named(11, "Q3_K"),
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
    named(40, "NVFP4"),
    named(41, "Q1_0"),
};

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
