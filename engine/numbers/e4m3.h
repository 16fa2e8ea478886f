// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// e4m3 has a sign, four bits of exponent and three of mantissa. The largest value is 448; there is no
// infinity, and one NaN of either sign. Source: Micikevicius et al., FP8 Formats for Deep Learning, arXiv
// 2209.05433.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace draftscope::engine {

inline constexpr float largest_e4m3_value = 448.0F;
inline constexpr std::uint8_t e4m3_nan = 0x7f;  ///< code without its sign

inline constexpr std::array<float, 256> all_e4m3_values = [] {
  std::array<float, 256> values{};
  for (std::uint32_t code = 0; code < values.size(); ++code) {
    const std::uint32_t exponent = code >> 3U & 15U;
    const std::uint32_t mantissa = code & 7U;
    float value = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9F
                                : std::bit_cast<float>((exponent + 120U) << 23U | mantissa << 20U);
    if ((code & 0x7fU) == e4m3_nan) value = std::numeric_limits<float>::quiet_NaN();
    values[code] = (code & 0x80U) != 0 ? -value : value;
  }
  return values;
}();

[[nodiscard]] constexpr float e4m3_value(std::uint8_t code) {
  return all_e4m3_values[code];
}

/// The code of the nearest value, ties to even; values beyond the largest give the largest. Not defined for
/// NaN. It has no branch, so that loops over it become vector code.
[[nodiscard]] inline std::uint8_t nearest_e4m3_code(float value) {
  constexpr float smallest_normal = 0x1p-6F;
  constexpr float steps_of_subnormals = 0x1p14F;  // The last bit of such a number is 2^-9.
  const float magnitude = std::min(std::abs(value), largest_e4m3_value);
  const auto bits = std::bit_cast<std::uint32_t>(magnitude);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(magnitude + steps_of_subnormals) -
                                  std::bit_cast<std::uint32_t>(steps_of_subnormals);
  // Three of 23 mantissa bits remain; the exponent's bias is 7 instead of 127.
  const std::uint32_t normal = ((bits + 0x7ffffU + (bits >> 20U & 1U)) >> 20U) - (120U << 3U);
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 24U & 0x80U;
  return static_cast<std::uint8_t>(sign | (magnitude < smallest_normal ? subnormal : normal));
}

}  // namespace draftscope::engine
