// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Single-precision results in each of IEEE 754's roundings, exactly, by double precision: the host's own
// instructions round to nearest alone.

#include <cstdint>

namespace draftscope::ptx {

enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// A number as the sum of a double and what rounding it to that double lost. Only the error's sign and size
/// relative to a float's last place matter.
struct Exact {
  double nearest;
  double error;
};

[[nodiscard]] Exact exact_sum(double a, double b);
[[nodiscard]] Exact exact_quotient(float a, float b);
[[nodiscard]] Exact exact_root(float a);
/// a · b + c.
[[nodiscard]] Exact exact_fused(float a, float b, float c);

/// The float next to `value` in a direction, or, if it is one, itself. Overflow gives the largest finite
/// number where the direction is towards it.
[[nodiscard]] float rounded(const Exact& value, Rounding rounding);

/// A sum of two terms that cancel is −0 if it is rounded down, and +0 otherwise.
[[nodiscard]] float rounded_sum(double a, double b, const Exact& sum, Rounding rounding);

/// A subnormal number becomes a zero of its sign.
[[nodiscard]] float flushed(float value);
/// Between 0 and 1; a NaN becomes 0.
[[nodiscard]] float saturated(float value);
/// Every NaN becomes the one that single-precision instructions give.
[[nodiscard]] float canonical(float value);

}  // namespace draftscope::ptx
