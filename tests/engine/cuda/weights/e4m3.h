// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// e4m3 by its definition, and rounding to it by a search through all values.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::engine::test {

/// The finite non-negative values, by code.
inline std::vector<float> e4m3_values() {
  std::vector<float> values;
  for (int code = 0; code < 0x7f; ++code) {
    const int exponent = code / 8;
    const auto mantissa = static_cast<float>(code % 8) / 8.0F;
    values.push_back(exponent == 0 ? std::ldexp(mantissa, -6) : std::ldexp(1.0F + mantissa, exponent - 7));
  }
  return values;
}

/// The code of the nearest value; ties go to the even code. The eighth bit is set below zero.
inline std::uint8_t nearest_e4m3(float x, const std::vector<float>& values) {
  std::size_t best = 0;
  for (std::size_t code = 1; code < values.size(); ++code) {
    const float distance = std::abs(std::abs(x) - values[code]);
    const float least = std::abs(std::abs(x) - values[best]);
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return static_cast<std::uint8_t>(best | (x < 0.0F ? 0x80U : 0U));
}

}  // namespace draftscope::engine::test
