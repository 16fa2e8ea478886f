// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes packed matrices of random blocks, and keeps the blocks beside them.

#include <cstring>
#include <vector>

#include "numbers/bf16.h"
#include "quantised/activations.h"
#include "quantised/packed_matrix.h"
#include "random_model.h"

namespace draftscope::engine::cpu::test {

using engine::test::chance;
using engine::test::pick;
using engine::test::Random;

struct RandomPacked {
  const PackedLayout* layout = nullptr;
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
  std::vector<QuantisedBlock> blocks;  ///< [outputs][packed_blocks()]
  std::vector<std::byte> data;

  [[nodiscard]] PackedMatrix matrix() const { return {layout, data.data(), outputs, depth}; }
  [[nodiscard]] const QuantisedBlock& block(std::int64_t output, std::int64_t at) const {
    return blocks[static_cast<std::size_t>(output * packed_blocks(*layout, depth) + at)];
  }
};

inline std::uint16_t random_half(Random& random, float size) {
  return float_to_f16(std::normal_distribution<float>(0.0F, size)(random));
}

inline QuantisedBlock random_block(Random& random, const PackedLayout& layout) {
  QuantisedBlock block;
  const bool extreme = chance(random, 0.2);  // makes sums of two products that 16 bits can't hold
  const std::int32_t most = (1 << layout.bits()) - 1;
  for (auto& quant : block.quants)
    quant = static_cast<std::uint8_t>(extreme ? most * pick(random, 0, 1) : pick(random, 0, most));
  block.scale = random_half(random, 0.05F);
  if (layout.has_minima) block.minimum = random_half(random, 0.3F);
  const std::int32_t lowest = layout.has_minima ? 0 : -128;
  const std::int32_t highest = layout.has_minima ? 63 : 127;
  for (int i = 0; i < layout.own_scales; ++i)
    block.own_scales[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(pick(random, lowest, highest));
  if (layout.has_two_levels() && layout.has_minima)
    block.own_minimum = static_cast<std::int8_t>(pick(random, 0, 63));
  return block;
}

inline RandomPacked random_packed(Random& random, const PackedLayout& layout, std::int64_t outputs,
                                  std::int64_t depth) {
  RandomPacked made{&layout, outputs, depth, {}, {}};
  made.data.resize(packed_bytes(layout, outputs, depth));
  for (std::int64_t output = 0; output < outputs; ++output)
    for (std::int64_t at = 0; at < packed_blocks(layout, depth); ++at) {
      QuantisedBlock block = random_block(random, layout);
      if (layout.has_two_levels() &&
          at % layout.unit_blocks() > 0) {  // blocks of a unit share their fp16 numbers
        block.scale = made.blocks.back().scale;
        block.minimum = made.blocks.back().minimum;
      }
      put_block(layout, made.data.data(), depth, output, at, block);
      made.blocks.push_back(block);
    }
  return made;
}

/// A random matrix of whole units in formats of two levels, and of any depth in formats of one.
inline RandomPacked random_packed(Random& random, const PackedLayout& layout) {
  const std::int64_t depth =
      layout.has_two_levels() ? 256 * std::int64_t{pick(random, 1, 3)} : std::int64_t{pick(random, 1, 500)};
  return random_packed(random, layout, pick(random, 1, 70), depth);
}

}  // namespace draftscope::engine::cpu::test
