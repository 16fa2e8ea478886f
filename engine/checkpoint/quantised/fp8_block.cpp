// SPDX-License-Identifier: GPL-3.0-or-later
#include "fp8_block.h"

#include <cmath>

namespace draftscope::engine {
namespace {

bool scales_are_representable(const QuantisedMatrix& matrix) {
  for (std::int64_t row = 0; row < matrix.rows; row += matrix.block.rows)
    for (std::int64_t column = 0; column < matrix.columns; column += matrix.block.columns)
      if (!(std::abs(fp8_scale(matrix, row, column)) <= largest_fp8_block_scale)) return false;
  return true;
}

}  // namespace

bool is_fp8_block(const QuantisedMatrix& matrix, std::int64_t first_row) {
  const ScaleBlock& block = matrix.block;
  const bool has_outputs = block.rows >= matrix.rows ||
                           (block.rows % fp8_block_outputs == 0 && first_row % fp8_block_outputs == 0);
  const bool has_inputs = block.columns >= matrix.columns || block.columns % fp8_block_inputs == 0;
  return matrix.form == PackedForm::fp8 && matrix.columns % fp8_block_granule == 0 && has_outputs &&
         has_inputs && scales_are_representable(matrix);
}

}  // namespace draftscope::engine
