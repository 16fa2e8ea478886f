// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// fp8_block (speculation/weight_format.h) is e4m3 with one scale per block of outputs and inputs. The folders
// of DeepSeek and Qwen3 have blocks of 128 × 128. On a device, each scale is for 8 outputs and 128 inputs.

#include <cstdint>

#include "quantised_matrix.h"

namespace draftscope::engine {

inline constexpr std::int64_t fp8_block_outputs = 8;
inline constexpr std::int64_t fp8_block_inputs = 128;
/// Number of inputs of a matrix must be a multiple of this.
inline constexpr std::int64_t fp8_block_granule = 32;
/// Larger scales are not representable: their products with codes may exceed bf16.
inline constexpr float largest_fp8_block_scale = 0x1p100F;

/// Whether fp8_block can represent a matrix's outputs from `first_row` on. The matrix must be in e4m3, with a
/// number of inputs that is a multiple of fp8_block_granule. No scale may end within a group of 8 outputs or
/// of 128 inputs.
[[nodiscard]] bool is_fp8_block(const QuantisedMatrix& matrix, std::int64_t first_row);

}  // namespace draftscope::engine
