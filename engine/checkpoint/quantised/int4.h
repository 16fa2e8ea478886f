// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// int4 (speculation/weight_format.h): 4-bit integers with a scale and a zero point for each group of 128
// inputs of an output. AWQ and GPTQ matrices are used as they are if is_int4(), and are widened otherwise.

#include <cstdint>

#include "quantised_matrix.h"

namespace draftscope::engine {

inline constexpr std::int64_t int4_group = 128;
inline constexpr std::int64_t int4_granule = 32;  ///< inputs of a matrix are a multiple of

/// Whether int4 has a matrix's numbers: in 4 bits, inputs that are a multiple of int4_granule, in groups in
/// their order of int4_group, of a multiple of it or of all, and each scale a number that fp16 has.
[[nodiscard]] bool is_int4(const QuantisedMatrix& matrix);

/// The scale and the zero point of an output's inputs [group, group + 1) · int4_group.
[[nodiscard]] GroupScale int4_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t group);

}  // namespace draftscope::engine
