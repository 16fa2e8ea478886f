// SPDX-License-Identifier: GPL-3.0-or-later
#include "widened_rows.h"

#include "gguf/widen.h"
#include "quantised/quantised_matrix.h"

namespace draftscope::engine {
namespace {

/// A tensor in e4m3 as the packed matrix that it is.
QuantisedMatrix fp8_matrix(const TensorView& tensor) {
  return {.form = PackedForm::fp8,
          .bits = 8,
          .rows = tensor.rows,
          .columns = tensor.columns,
          .values = tensor.data,
          .scales = reinterpret_cast<const std::byte*>(tensor.scales),
          .scale_dtype = DType::f32,
          .block = {1, tensor.columns}};
}

}  // namespace

std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first, std::int64_t rows) {
  if (tensor.blocks != nullptr) return gguf::widened_rows(tensor, first, rows);
  std::vector<std::byte> wide(static_cast<std::size_t>(rows * tensor.columns) * dtype_bytes(tensor.dtype));
  widen({{tensor.quantised != nullptr ? *tensor.quantised : fp8_matrix(tensor), tensor.first_row + first,
          rows, tensor.columns, tensor.dtype, wide.data()}});
  return wide;
}

}  // namespace draftscope::engine
