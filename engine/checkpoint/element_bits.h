// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Lowest index of an element that is a NaN or an infinity.
[[nodiscard]] std::optional<std::int64_t> first_non_finite(const TensorView& tensor);

/// Writes numbers as a type, each rounded to nearest, ties to even. `out` may have any alignment.
void store_values(std::span<const float> values, DType dtype, std::byte* out);

/// Rows of a packed tensor (not is_plain()), as numbers of its type.
[[nodiscard]] std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first,
                                                  std::int64_t rows);

/// Writes one row of a tensor as fp32: `tensor.columns` numbers to `out`.
void copy_row(const TensorView& tensor, std::int64_t row, float* out);

}  // namespace draftscope::engine
