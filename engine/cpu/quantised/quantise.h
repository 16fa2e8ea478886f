// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Quantises weights to blocks of one level, with the same bits on every processor.
//
//   q8_0    scale = absmax / 127, rounded to fp16 before it is used
//   others  scale (and minimum, if the format has one) with the least Σ i (x − w)². The candidates are
//           roundings by several scales around that of absmax, or by several ranges inside that of the
//           values. The result is never worse than by absmax or the whole range.
//
// The importance i of a column is given by the caller (input_squares.h); otherwise it is x², or 1 in formats
// with a minimum.

#include "formats/packed_layout.h"

namespace draftscope::engine::cpu {

/// Whether the rounding weights errors by column.
[[nodiscard]] inline bool weighs_columns(const PackedLayout& layout) {
  return layout.format != speculation::WeightFormat::q8_0;
}

/// Quantises a block. `weights` has 32 entries, of which the first `count` are the matrix's and the others
/// zeros; `importance` has the same shape, or is null. A block that contains a NaN or an infinity gets the
/// scale NaN.
[[nodiscard]] QuantisedBlock quantise_block(const PackedLayout& layout, const float* weights,
                                            std::int64_t count, const float* importance = nullptr);

/// Quantises only by absmax, or by the values' range; the search begins with this.
[[nodiscard]] QuantisedBlock quantise_plainly(const PackedLayout& layout, const float* weights,
                                              std::int64_t count);

}  // namespace draftscope::engine::cpu
