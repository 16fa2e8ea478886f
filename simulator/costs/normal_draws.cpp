// SPDX-License-Identifier: GPL-3.0-or-later
#include "costs/normal_draws.h"

#include <draftscope/base/counter_random.h>
#include <cmath>
#include <numbers>

namespace draftscope::simulator {

namespace {

/// (0, 1], 53 bits.
double unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 1.0) * 0x1p-53;
}

}  // namespace

void fill_normal(std::uint64_t seed, std::uint64_t index, std::span<double> out, std::size_t first) {
  // Each two numbers take two steps of the state.
  const std::size_t odd = first % 2;
  std::uint64_t state =
      splitmix(splitmix(seed + splitmix_step) + (index + 1) * splitmix_step) + (first - odd) * splitmix_step;
  for (std::size_t i = 0; i < out.size() + odd; i += 2) {
    const double radius = std::sqrt(-2.0 * std::log(unit(splitmix(state += splitmix_step))));
    const double angle = 2.0 * std::numbers::pi * unit(splitmix(state += splitmix_step));
    if (i >= odd) out[i - odd] = radius * std::cos(angle);
    if (i + 1 - odd < out.size()) out[i + 1 - odd] = radius * std::sin(angle);
  }
}

}  // namespace draftscope::simulator
