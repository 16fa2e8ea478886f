// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// int4 (speculation/weight_format.h) has 4-bit integers with a scale and a zero point per group of 128 inputs
// of an output. AWQ and GPTQ matrices are used as they are if is_int4(), and are widened otherwise.

#include <cstdint>

#include "quantised_matrix.h"

namespace draftscope::engine {

inline constexpr std::int64_t int4_group = 128;
/// Number of inputs of a matrix must be a multiple of this.
inline constexpr std::int64_t int4_granule = 32;

/// Whether int4 can represent a matrix. It must have 4 bits and a number of inputs that is a multiple of
/// int4_granule. Its groups must be in order and span int4_group inputs, a multiple of that or all inputs.
/// Each scale must be representable in fp16.
[[nodiscard]] bool is_int4(const QuantisedMatrix& matrix);

/// The scale and the zero point of an output for inputs [group, group + 1) · int4_group.
[[nodiscard]] GroupScale int4_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t group);

}  // namespace draftscope::engine
