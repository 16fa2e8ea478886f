// SPDX-License-Identifier: GPL-3.0-or-later
#include "operations/rounding.h"

#include <bit>
#include <cmath>
#include <limits>

namespace draftscope::ptx {

Exact exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_taken = sum - a;
  return {sum, (a - (sum - b_taken)) + (b - b_taken)};
}

Exact exact_quotient(float a, float b) {
  const double quotient = static_cast<double>(a) / b;
  return {quotient, std::fma(-quotient, static_cast<double>(b), static_cast<double>(a)) / b};
}

Exact exact_root(float a) {
  const double root = std::sqrt(static_cast<double>(a));
  const double rest = std::fma(-root, root, static_cast<double>(a));
  return {root, root == 0.0 ? 0.0 : rest / (2.0 * root)};
}

Exact exact_fused(float a, float b, float c) {
  return exact_sum(static_cast<double>(a) * b, c);  // the product of two floats is a double
}

float rounded(const Exact& value, Rounding rounding) {
  const auto near = static_cast<float>(value.nearest);
  if (!std::isfinite(value.nearest)) return near;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const double beyond = static_cast<double>(near) - value.nearest;  // exact
  const bool is_above = beyond > value.error;
  const bool is_below = beyond < value.error;
  const bool is_negative = value.nearest < 0.0;
  switch (rounding) {
    case Rounding::down:
      return is_above ? std::nextafter(near, -infinity) : near;
    case Rounding::up:
      return is_below ? std::nextafter(near, infinity) : near;
    case Rounding::zero:
      return (is_negative ? is_below : is_above) ? std::nextafter(near, 0.0F) : near;
    case Rounding::nearest:
      break;
  }
  // Half-way between two floats, the error decides.
  const double half_way = static_cast<double>(near) - value.nearest;
  const float other = std::nextafter(near, half_way > 0.0 ? -infinity : infinity);
  if (half_way != 0.0 && value.nearest - static_cast<double>(other) == half_way && value.error != 0.0)
    return (value.error > 0.0) == (other > near) ? other : near;
  return near;
}

float rounded_sum(double a, double b, const Exact& sum, Rounding rounding) {
  if (sum.nearest == 0.0 && sum.error == 0.0) {
    if (std::signbit(a) == std::signbit(b) && a == 0.0) return static_cast<float>(a);
    return rounding == Rounding::down ? -0.0F : 0.0F;
  }
  return rounded(sum, rounding);
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

float saturated(float value) {
  if (!(value > 0.0F)) return 0.0F;
  return value > 1.0F ? 1.0F : value;
}

float canonical(float value) {
  constexpr std::uint32_t nan_bits = 0x7fffffffU;
  return std::isnan(value) ? std::bit_cast<float>(nan_bits) : value;
}

}  // namespace draftscope::ptx
