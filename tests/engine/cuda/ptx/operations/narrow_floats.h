// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Floats of 16 and 8 bits: f16, bf16, e4m3 (no infinities, one NaN), e5m2.

#include <cstdint>

#include "operations/rounding.h"

namespace draftscope::ptx {

struct NarrowFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  std::uint32_t nan;  ///< the one that instructions give
};

inline constexpr NarrowFormat f16_format{5, 10, true, 0x7fff};
inline constexpr NarrowFormat bf16_format{8, 7, true, 0x7fff};
inline constexpr NarrowFormat e4m3_format{4, 3, false, 0x7f};
inline constexpr NarrowFormat e5m2_format{5, 2, true, 0x7f};

/// Bits of a number rounded to nearest even, or towards zero. What is too large becomes an infinity, or the
/// largest finite number if `saturates` or there is no infinity.
[[nodiscard]] std::uint32_t narrowed(double value, const NarrowFormat& format,
                                     Rounding rounding = Rounding::nearest, bool saturates = false);
/// Exact.
[[nodiscard]] double widened(std::uint32_t bits, const NarrowFormat& format);

/// A double that rounds to any narrower format as the exact number does: the last bit is odd where something
/// was lost.
[[nodiscard]] double rounded_to_odd(const Exact& value);

/// widened(bits, f16_format) and so on, quickly.
[[nodiscard]] float f16_to_float(std::uint16_t bits);
[[nodiscard]] float bf16_to_float(std::uint16_t bits);
/// narrowed() to nearest even.
[[nodiscard]] std::uint16_t float_to_bf16(float value);
[[nodiscard]] std::uint16_t float_to_f16(float value);

}  // namespace draftscope::ptx
