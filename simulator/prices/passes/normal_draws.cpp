// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/passes/normal_draws.h"

#include <draftscope/base/counter_random.h>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace draftscope::simulator {

namespace {

/// Uniform number in (0, 1], 53 bits.
double unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 1.0) * 0x1p-53;
}

}  // namespace

void fill_normal(std::uint64_t seed, std::uint64_t index, std::span<double> out, std::size_t first) {
  // Every two numbers take two steps of the state.
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

std::span<const double> CachedNormals::first(std::uint64_t index, std::size_t size) {
  // Minimum numbers per index. All exits of a dozen layers with 16 draft tokens need fewer, so that a longer
  // draft later needs no new ones.
  constexpr std::size_t at_once = 512;
  std::vector<double>& known = numbers_[index];
  if (const std::size_t before = known.size(); before < size) {
    known.resize(std::max(size, at_once));
    fill_normal(seed_, index, std::span(known).subspan(before), before);
  }
  return std::span(known).first(size);
}

double student_quantile(double z, double freedom) {
  const double z2 = z * z;
  const double first = z * (z2 + 1.0) / 4.0;
  const double second = z * (z2 * (5.0 * z2 + 16.0) + 3.0) / 96.0;
  const double third = z * (z2 * (z2 * (3.0 * z2 + 19.0) + 17.0) - 15.0) / 384.0;
  return z + (first + (second + third / freedom) / freedom) / freedom;
}

}  // namespace draftscope::simulator
