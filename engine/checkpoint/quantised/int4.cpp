// SPDX-License-Identifier: GPL-3.0-or-later
#include "int4.h"

#include "numbers/bf16.h"

namespace draftscope::engine {
namespace {

bool has_fp16_scales(const QuantisedMatrix& matrix) {
  if (matrix.scale_dtype == DType::f16) return true;
  const std::int64_t groups = (matrix.columns + matrix.block.columns - 1) / matrix.block.columns;
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const float scale = group_scale(matrix, row, group).scale;
      if (f16_to_float(float_to_f16(scale)) != scale) return false;
    }
  return true;
}

}  // namespace

bool is_int4(const QuantisedMatrix& matrix) {
  const bool is_of_integers = matrix.form == PackedForm::awq || matrix.form == PackedForm::gptq;
  const bool has_groups = matrix.block.columns % int4_group == 0 || matrix.block.columns >= matrix.columns;
  return is_of_integers && matrix.bits == 4 && matrix.columns % int4_granule == 0 &&
         matrix.groups == nullptr && has_groups && has_fp16_scales(matrix);
}

GroupScale int4_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t group) {
  return group_scale(matrix, row, group * int4_group / matrix.block.columns);
}

}  // namespace draftscope::engine
