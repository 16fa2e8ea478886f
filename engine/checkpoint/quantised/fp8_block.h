// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// fp8_block (speculation/weight_format.h): e4m3 with a scale for blocks of outputs and inputs, as DeepSeek's
// and Qwen3's folders have it for 128 × 128. A device has a scale for each 8 outputs and 128 inputs.

#include <cstdint>

#include "quantised_matrix.h"

namespace draftscope::engine {

inline constexpr std::int64_t fp8_block_outputs = 8;
inline constexpr std::int64_t fp8_block_inputs = 128;
inline constexpr std::int64_t fp8_block_granule = 32;  ///< inputs of a matrix are a multiple of
/// Scales beyond it, whose products with codes may be no bf16 numbers, are not representable.
inline constexpr float largest_fp8_block_scale = 0x1p100F;

/// Whether fp8_block has the numbers of a matrix's outputs from `first_row` on: in e4m3, inputs that are a
/// multiple of fp8_block_granule, and no scale that ends within 8 outputs or within 128 inputs of them.
[[nodiscard]] bool is_fp8_block(const QuantisedMatrix& matrix, std::int64_t first_row);

}  // namespace draftscope::engine
