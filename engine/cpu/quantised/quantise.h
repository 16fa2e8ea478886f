// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From weights to blocks of one level. The same bits on every processor.
//
//   q8_0    scale = absmax / 127, rounded to fp16 before it is used
//   others  scale (and minimum, where the format has one) of the least Σ i (x − w)², among roundings by
//   several
//           scales around the one of absmax, or by several ranges inside that of the values; never worse than
//           by absmax or the whole range
//
// i is what the caller knows of the columns (input_squares.h), else x², or 1 where there is a minimum.

#include "packed_matrix.h"

namespace draftscope::engine::cpu {

/// Whether the rounding weighs errors by column.
[[nodiscard]] inline bool weighs_columns(const PackedLayout& layout) {
  return layout.format != speculation::WeightFormat::q8_0;
}

/// `weights` are 32, of which the first `count` are the matrix's and the others zeros; `importance` likewise,
/// or null. A block that holds a NaN or an infinity gets the scale NaN.
[[nodiscard]] QuantisedBlock quantise_block(const PackedLayout& layout, const float* weights,
                                            std::int64_t count, const float* importance = nullptr);

/// Quantises by absmax (by the values' range) alone, which is what the search begins with.
[[nodiscard]] QuantisedBlock quantise_plainly(const PackedLayout& layout, const float* weights,
                                              std::int64_t count);

}  // namespace draftscope::engine::cpu
