// SPDX-License-Identifier: GPL-3.0-or-later
#include "two_levels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "numbers/bf16.h"

namespace draftscope::engine::cuda {

namespace {

constexpr float largest_code = 15.0F;
constexpr float largest_multiple = 63.0F;

struct Reach {
  float least = 0.0F;
  float largest = 0.0F;
  [[nodiscard]] float step() const { return (largest - least) / largest_code; }
};

/// A NaN among the weights makes it one of NaNs.
Reach reach_of(std::span<const float> weights) {
  Reach reach;
  for (const float weight : weights) {
    if (std::isnan(weight)) return {weight, weight};
    reach.least = std::min(reach.least, weight);
    reach.largest = std::max(reach.largest, weight);
  }
  return reach;
}

/// The nearest of 0 … `most`; 0 of a unit of zero and of what is no number.
float multiple(float value, float unit, float most) {
  if (unit == 0.0F) return 0.0F;
  const float nearest = std::nearbyint(value / unit);
  return nearest > 0.0F ? std::min(nearest, most) : 0.0F;
}

}  // namespace

std::array<cpu::QuantisedBlock, cpu::blocks_of_two_levels> round_to_two_levels(
    std::span<const float> weights) {
  std::array<cpu::QuantisedBlock, cpu::blocks_of_two_levels> blocks;
  const auto part_of = [&](std::size_t part) {
    const std::size_t first = std::min(weights.size(), part * part_depth);
    return weights.subspan(first, std::min<std::size_t>(part_depth, weights.size() - first));
  };
  float step = 0.0F;
  float least = 0.0F;
  for (std::size_t part = 0; part < blocks.size(); ++part) {
    const Reach reach = reach_of(part_of(part));
    step = std::isnan(step) ? step : std::max(reach.step(), step);  // the first of two where one is a NaN
    least = std::min(reach.least, least);
  }
  const std::uint16_t unit = float_to_f16(step / largest_multiple);
  const std::uint16_t unit_of_minima = float_to_f16(-least / largest_multiple);
  for (std::size_t part = 0; part < blocks.size(); ++part) {
    const std::span<const float> own = part_of(part);
    const Reach reach = reach_of(own);
    cpu::QuantisedBlock& block = blocks[part];
    block.scale = unit;
    block.minimum = unit_of_minima;
    const float scale = multiple(reach.step(), f16_to_float(unit), largest_multiple);
    const float minimum = multiple(-reach.least, f16_to_float(unit_of_minima), largest_multiple);
    block.own_scales[0] = static_cast<std::int8_t>(scale);
    block.own_minimum = static_cast<std::int8_t>(minimum);
    for (std::size_t i = 0; i < own.size(); ++i)
      block.quants[i] = static_cast<std::uint8_t>(multiple(own[i] + f16_to_float(unit_of_minima) * minimum,
                                                           f16_to_float(unit) * scale, largest_code));
  }
  return blocks;
}

void put_two_levels(const cpu::QuantisedBlock& block, std::size_t part, std::byte* scales) {
  std::memcpy(scales, &block.scale, sizeof block.scale);
  std::memcpy(scales + sizeof block.scale, &block.minimum, sizeof block.minimum);
  const unsigned scale = static_cast<std::uint8_t>(block.own_scales[0]);
  const unsigned minimum = static_cast<std::uint8_t>(block.own_minimum);
  std::byte* const low_scales = scales + 4;
  std::byte* const low_minima = scales + 8;
  std::byte* const upper = scales + 12;
  constexpr std::size_t half = cpu::blocks_of_two_levels / 2;
  if (part < half) {
    low_scales[part] |= static_cast<std::byte>(scale);
    low_minima[part] |= static_cast<std::byte>(minimum);
    return;
  }
  low_scales[part - half] |= static_cast<std::byte>(scale >> 4U << 6U);
  low_minima[part - half] |= static_cast<std::byte>(minimum >> 4U << 6U);
  upper[part - half] = static_cast<std::byte>((scale & 15U) | (minimum & 15U) << 4U);
}

}  // namespace draftscope::engine::cuda
