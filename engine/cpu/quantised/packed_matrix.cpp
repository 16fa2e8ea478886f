// SPDX-License-Identifier: GPL-3.0-or-later
#include "packed_matrix.h"

#include <cstring>

#include "numbers/bf16.h"

namespace draftscope::engine::cpu {
namespace {

/// Offsets of the parts of one output's block, from the group's unit on.
struct BlockPlace {
  std::int64_t unit;
  std::int64_t scale, minimum;  ///< fp16
  std::int64_t own_scale,
      own_minimum;      ///< offsets in the first half; in the second half they are larger by group_outputs
  std::int64_t quants;  ///< bytes of the output in the first plane
};

BlockPlace place_of(const PackedLayout& layout, std::int64_t depth, std::int64_t output, std::int64_t block) {
  const std::int64_t lane = output % group_outputs;
  const std::int64_t sub = block % layout.unit_blocks();
  BlockPlace place{};
  place.unit = output / group_outputs * packed_group_bytes(layout, depth) +
               block / layout.unit_blocks() * layout.unit_bytes();
  place.scale = place.unit + sub * layout.half_step() + 2 * lane;
  place.minimum = place.scale + 2 * group_outputs;
  const std::int64_t own = place.unit + layout.half_bytes() + lane;
  place.own_scale = own + sub * layout.own_scales * group_outputs;
  place.own_minimum = own + (layout.unit_blocks() * layout.own_scales + sub) * group_outputs;
  place.quants = place.unit + layout.header_bytes() + sub * layout.quant_bytes() + 4 * lane;
  return place;
}

/// Byte of a plane, and the bit in it, where the `bits` bits of value k of the block begin.
struct BitPlace {
  std::int64_t byte;
  int shift;
};

BitPlace bits_of(std::int64_t k, int bits) {
  const std::int64_t bit = k / 4 * bits;
  return {bit / 8 * plane_bytes + k % 4, static_cast<int>(bit % 8)};
}

}  // namespace

std::int64_t packed_blocks(const PackedLayout& layout, std::int64_t depth) {
  const std::int64_t unit = layout.unit_blocks() * block_depth;
  return (depth + unit - 1) / unit * layout.unit_blocks();
}

std::int64_t packed_group_bytes(const PackedLayout& layout, std::int64_t depth) {
  return packed_blocks(layout, depth) / layout.unit_blocks() * layout.unit_bytes();
}

std::size_t packed_bytes(const PackedLayout& layout, std::int64_t outputs, std::int64_t depth) {
  const std::int64_t groups = (outputs + group_outputs - 1) / group_outputs;
  return static_cast<std::size_t>(groups * packed_group_bytes(layout, depth));
}

void put_block(const PackedLayout& layout, std::byte* data, std::int64_t depth, std::int64_t output,
               std::int64_t block, const QuantisedBlock& values) {
  const BlockPlace place = place_of(layout, depth, output, block);
  std::memcpy(data + place.scale, &values.scale, 2);
  if (layout.has_minima) std::memcpy(data + place.minimum, &values.minimum, 2);
  for (int i = 0; i < layout.own_scales; ++i)
    data[place.own_scale + i * group_outputs] =
        static_cast<std::byte>(values.own_scales[static_cast<std::size_t>(i)]);
  if (layout.has_two_levels() && layout.has_minima)
    data[place.own_minimum] = static_cast<std::byte>(values.own_minimum);
  std::byte* const low = data + place.quants;
  std::byte* const high = low + plane_bytes * layout.low_bits;
  const unsigned low_mask = (1U << layout.low_bits) - 1U;
  for (std::int64_t k = 0; k < block_depth; ++k) {
    const unsigned quant = values.quants[static_cast<std::size_t>(k)];
    const BitPlace at = bits_of(k, layout.low_bits);
    low[at.byte] |= static_cast<std::byte>((quant & low_mask) << at.shift);
    if (layout.high_bits == 0) continue;
    const BitPlace upper = bits_of(k, layout.high_bits);
    high[upper.byte] |= static_cast<std::byte>(quant >> layout.low_bits << upper.shift);
  }
}

QuantisedBlock get_block(const PackedMatrix& matrix, std::int64_t output, std::int64_t block) {
  const PackedLayout& layout = *matrix.layout;
  const BlockPlace place = place_of(layout, matrix.depth, output, block);
  QuantisedBlock values;
  values.scale = load_unaligned<std::uint16_t>(matrix.data + place.scale);
  if (layout.has_minima) values.minimum = load_unaligned<std::uint16_t>(matrix.data + place.minimum);
  for (int i = 0; i < layout.own_scales; ++i)
    values.own_scales[static_cast<std::size_t>(i)] =
        static_cast<std::int8_t>(matrix.data[place.own_scale + i * group_outputs]);
  if (layout.has_two_levels() && layout.has_minima)
    values.own_minimum = static_cast<std::int8_t>(matrix.data[place.own_minimum]);
  const std::byte* const low = matrix.data + place.quants;
  const std::byte* const high = low + plane_bytes * layout.low_bits;
  const unsigned low_mask = (1U << layout.low_bits) - 1U;
  const unsigned high_mask = (1U << layout.high_bits) - 1U;
  for (std::int64_t k = 0; k < block_depth; ++k) {
    const BitPlace at = bits_of(k, layout.low_bits);
    unsigned quant = (static_cast<unsigned>(low[at.byte]) >> at.shift) & low_mask;
    if (layout.high_bits > 0) {
      const BitPlace upper = bits_of(k, layout.high_bits);
      quant |= ((static_cast<unsigned>(high[upper.byte]) >> upper.shift) & high_mask) << layout.low_bits;
    }
    values.quants[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(quant);
  }
  return values;
}

}  // namespace draftscope::engine::cpu
