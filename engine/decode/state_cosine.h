// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace draftscope::engine {

/// Cosine of two states of the same width. It is 0 if one is all zeros. It is −1, the minimum, for states
/// that are not finite, so that a search prefers any other state. The sum has lanes that the compiler turns
/// into vectors, since a sum of floats otherwise has a fixed order.
[[nodiscard]] inline double state_cosine(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t lanes = 16;
  std::array<float, lanes> ab{};
  std::array<float, lanes> aa{};
  std::array<float, lanes> bb{};
  std::size_t i = 0;
  for (; i + lanes <= a.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const float x = a[i + lane];
      const float y = b[i + lane];
      ab[lane] += x * y;
      aa[lane] += x * x;
      bb[lane] += y * y;
    }
  double sum_ab = 0.0;
  double sum_aa = 0.0;
  double sum_bb = 0.0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    sum_ab += static_cast<double>(ab[lane]);
    sum_aa += static_cast<double>(aa[lane]);
    sum_bb += static_cast<double>(bb[lane]);
  }
  for (; i < a.size(); ++i) {
    sum_ab += static_cast<double>(a[i] * b[i]);
    sum_aa += static_cast<double>(a[i] * a[i]);
    sum_bb += static_cast<double>(b[i] * b[i]);
  }
  const double norms = std::sqrt(sum_aa * sum_bb);
  if (norms == 0.0) return 0.0;
  const double cosine = sum_ab / norms;
  return std::isfinite(cosine) ? cosine : -1.0;
}

}  // namespace draftscope::engine
