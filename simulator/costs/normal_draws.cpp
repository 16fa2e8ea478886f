// SPDX-License-Identifier: GPL-3.0-or-later
#include "costs/normal_draws.h"

#include <cmath>
#include <numbers>

namespace draftscope::simulator {

namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

/// (0, 1], 53 bits.
double unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 1.0) * 0x1p-53;
}

}  // namespace

void fill_normal(std::uint64_t seed, std::uint64_t index, std::span<double> out) {
  constexpr std::uint64_t step = 0x9E3779B97F4A7C15ULL;
  std::uint64_t state = mix(mix(seed + step) + (index + 1) * step);
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(unit(mix(state += step))));
    const double angle = 2.0 * std::numbers::pi * unit(mix(state += step));
    out[i] = radius * std::cos(angle);
    if (i + 1 < out.size()) out[i + 1] = radius * std::sin(angle);
  }
}

}  // namespace draftscope::simulator
