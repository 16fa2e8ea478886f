// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Arithmetic on pairs of 16-bit floats as PTX defines it: each result is the exact one, rounded once to
// nearest even, and subnormal numbers are kept.

#include <bit>
#include <cmath>
#include <cstdint>

namespace draftscope::engine::cuda::emulation {

/// a · b + c of fp16 or bf16 numbers, as an fp32 number that rounds to these types as the exact result does.
/// It is the exact result, or its odd neighbour. The nearest fp32 number could be half-way between two
/// numbers of these types where the exact result is not.
inline float multiply_add_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * b;  // It is exact, with at most 22 bits.
  const double sum = product + c;
  const double from_c = sum - product;
  const double lost = (product - (sum - from_c)) + (c - from_c);  // This is the exact error of the sum.
  const auto nearest = static_cast<float>(sum);
  if (!std::isfinite(nearest)) return nearest;
  const double left = sum - nearest;
  const double rest = left != 0.0 ? left : lost;
  if (rest == 0.0 || std::bit_cast<std::uint32_t>(nearest) % 2 == 1) return nearest;
  return std::nextafter(nearest, rest > 0.0 ? HUGE_VALF : -HUGE_VALF);
}

/// a · b + c on the numbers of two pairs, the lower halves and the upper ones.
template <typename Element>
std::uint32_t multiply_add_pairs(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto result = [&](int at) {
    const auto half = [at](std::uint32_t pair) {
      return Element::to_float(static_cast<std::uint16_t>(pair >> at));
    };
    return Element::from_float(multiply_add_to_odd(half(a), half(b), half(c)));
  };
  return std::uint32_t{result(16)} << 16U | result(0);
}

template <typename Element>
std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t minus_zeros = 0x80008000U;  // They change no product.
  return multiply_add_pairs<Element>(a, b, minus_zeros);
}

}  // namespace draftscope::engine::cuda::emulation
