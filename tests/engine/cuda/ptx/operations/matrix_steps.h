// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// mma and ldmatrix, once their operands have places.

#include <cstddef>
#include <string_view>

#include "operations/lanes.h"

namespace draftscope::ptx {

/// A product of matrices by one warp, 16 × k times k × 8, summed in single precision.
struct MatrixProduct {
  std::string_view modifiers;  ///< the instruction's spelling behind "mma.sync.aligned."
  Execute execute;             ///< its list: registers of D, A, B, C, in this order
  std::size_t a_words, b_words;
};

/// Null if there is no such product.
///
/// PTX leaves the order of an mma's sums and their roundings to the device. Here k is taken in ascending
/// order and each partial sum is rounded to single precision, as the emulated device of the tests does: two
/// devices agree within the bound of a sum, not bit for bit.
[[nodiscard]] const MatrixProduct* find_matrix_product(std::string_view modifiers);

/// Matrices of 8 × 8 values of 16 bits: step.n of them, transposed if step.option is 1.
void load_matrices(Warp& warp, const Step& step, Mask lanes);

}  // namespace draftscope::ptx
