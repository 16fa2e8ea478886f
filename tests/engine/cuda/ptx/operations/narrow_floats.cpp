// SPDX-License-Identifier: GPL-3.0-or-later
#include "operations/narrow_floats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace draftscope::ptx {

std::uint32_t narrowed(double value, const NarrowFormat& format, Rounding rounding, bool saturates) {
  const int mantissa_bits = format.mantissa_bits;
  const int exponent_bits = format.exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t sign = std::signbit(value) ? 1U << (exponent_bits + mantissa_bits) : 0U;
  if (std::isnan(value)) return format.nan;
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  const std::uint32_t largest = format.has_infinity ? infinity - 1 : infinity + (1U << mantissa_bits) - 2;
  const bool stays_finite = saturates || !format.has_infinity;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | (stays_finite ? largest : infinity);
  if (magnitude == 0.0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double steps = std::ldexp(magnitude, mantissa_bits - exponent);  // exact
  const double whole = rounding == Rounding::zero ? std::trunc(steps) : std::nearbyint(steps);
  // The leading one of a normal number adds one to the exponent's field; a carry out of the mantissa does,
  // too.
  const double bits = std::ldexp(static_cast<double>(exponent + bias - 1), mantissa_bits) + whole;
  if (bits <= static_cast<double>(largest)) return sign | static_cast<std::uint32_t>(bits);
  return sign | (stays_finite || rounding == Rounding::zero ? largest : infinity);
}

double widened(std::uint32_t bits, const NarrowFormat& format) {
  const int mantissa_bits = format.mantissa_bits;
  const int exponent_bits = format.exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> (exponent_bits + mantissa_bits) & 1U) != 0 ? -1.0 : 1.0;
  const std::uint32_t mantissa = bits & ((1U << mantissa_bits) - 1);
  const auto exponent = static_cast<int>(bits >> mantissa_bits & ((1U << exponent_bits) - 1));
  const bool is_topmost = exponent == (1 << exponent_bits) - 1;
  if (is_topmost && format.has_infinity)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (is_topmost && mantissa == (1U << mantissa_bits) - 1) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1U << mantissa_bits), exponent - bias - mantissa_bits);
}

double rounded_to_odd(const Exact& value) {
  auto bits = std::bit_cast<std::uint64_t>(value.nearest);
  if (value.error == 0.0 || !std::isfinite(value.nearest) || (bits & 1U) != 0) return value.nearest;
  // Away from zero if the error is, and towards it otherwise.
  bits += std::signbit(value.error) == std::signbit(value.nearest) ? 1 : std::uint64_t{0} - 1;
  return std::bit_cast<double>(bits);
}

float f16_to_float(std::uint16_t bits) {
  static const std::vector<float> all = [] {
    std::vector<float> values(std::size_t{1} << 16U);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(widened(static_cast<std::uint32_t>(i), f16_format));
    return values;
  }();
  return all[bits];
}

float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded_up = bits + 0x7fffU + (bits >> 16U & 1U);
  return static_cast<std::uint16_t>(std::isnan(value) ? bf16_format.nan : rounded_up >> 16U);
}

std::uint16_t float_to_f16(float value) {
  return static_cast<std::uint16_t>(narrowed(static_cast<double>(value), f16_format));
}

}  // namespace draftscope::ptx
