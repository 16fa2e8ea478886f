// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scales and minima of Q4_K on their way to the kernels (kernels/grouped_layout.h): 256 weights have two fp16
// numbers, and each 32 of them a scale and a minimum of 6 bits, which are multiples of those.

#include <array>
#include <cstddef>
#include <span>

#include "cpu/quantised/packed_matrix.h"
#include "cuda/kernels/grouped_layout.h"

namespace draftscope::engine::cuda {

/// 256 weights rounded: each 32 to sixteen even steps from their least, or from 0, to their largest, whose
/// sizes are rounded to multiples. Fewer weights are filled up with zeros. Scales that are not finite where a
/// weight is not, or where fp16 lacks the reach.
[[nodiscard]] std::array<cpu::QuantisedBlock, cpu::blocks_of_two_levels> round_to_two_levels(
    std::span<const float> weights);

/// Writes what belongs to part `part` of 256 weights into their scale_bytes, zeros where no part was written.
void put_two_levels(const cpu::QuantisedBlock& block, std::size_t part, std::byte* scales);

}  // namespace draftscope::engine::cuda
