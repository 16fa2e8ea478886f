// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Number types of weights. All functions are thread-safe.

#include <draftscope/base/result.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::simulator {

/// Number type of the layers' weights. Types below 16 bits hold the layers alone: head, embedding and K/V
/// stay bf16. fp8, int8 and nvfp4 products round their activations to the same type; int4 products widen the
/// weights, in groups of 128 with a 16-bit scale and a zero (AWQ, GPTQ); nvfp4 has an 8-bit scale every 16.
enum class WeightType : std::uint8_t { bf16, fp16, fp32, fp8, int8, int4, nvfp4 };
inline constexpr std::size_t weight_type_count = 7;
inline constexpr std::array<WeightType, weight_type_count> all_weight_types{
    WeightType::bf16, WeightType::fp16, WeightType::fp32, WeightType::fp8,
    WeightType::int8, WeightType::int4, WeightType::nvfp4};

[[nodiscard]] std::string_view weight_type_name(WeightType type);
/// "bf16", "fp16" or "f16", "fp32" or "f32", "fp8", "int8", "int4", "nvfp4". Errors: anything else.
[[nodiscard]] Result<WeightType> parse_weight_type(std::string_view text);

/// "bf16, fp16, fp32, fp8, int8, int4 or nvfp4".
[[nodiscard]] std::string weight_type_names();

/// Whether a type has fewer than 16 bits, so that it holds the layers alone.
[[nodiscard]] bool is_narrow(WeightType type);

/// Bytes of one weight of a layer, its share of scales included.
[[nodiscard]] double layer_weight_bytes(WeightType type);

/// Bytes of an activation, of K/V, and of a weight of the head.
[[nodiscard]] double activation_bytes(WeightType type);

}  // namespace draftscope::simulator
