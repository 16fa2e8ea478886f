// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scalar conversions of the two 16-bit float formats. They have few branches, so that plain loops over them
// vectorise.

#include <bit>
#include <cstdint>
#include <cstring>

namespace draftscope::engine {

[[nodiscard]] constexpr float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to nearest even; a NaN stays a NaN.
[[nodiscard]] constexpr std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet_nan = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet_nan : rounded);
}

[[nodiscard]] constexpr float round_to_bf16(float value) {
  return bf16_to_float(float_to_bf16(value));
}

[[nodiscard]] constexpr float f16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  // Scaling by 2^112 moves the exponent's bias from 15 to 127, and also normalises subnormals.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

/// Rounds to nearest even. Values beyond the largest number become an infinity, and a NaN stays a NaN.
[[nodiscard]] constexpr std::uint16_t float_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  if (rounded >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude >= 0x38800000U) return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
  // Subnormal: adding 2^-1 leaves the rounded multiple of 2^-24 in the last bits.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
}

/// Loads a number from any address: a safetensors header of any length may precede the weights.
template <typename T>
[[nodiscard]] T load_unaligned(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

}  // namespace draftscope::engine
