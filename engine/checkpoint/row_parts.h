// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::engine {

/// A run of whole rows of one tensor, small enough to share among threads and large enough to stream.
struct RowPart {
  std::size_t tensor = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
};

/// All rows of all tensors, in order, in parts of about `elements`. `size_of` returns an object whose members
/// `rows` and `columns` are a tensor's extents.
template <typename Tensors, typename SizeOf>
[[nodiscard]] std::vector<RowPart> row_parts(const Tensors& tensors, std::int64_t elements, SizeOf size_of) {
  std::vector<RowPart> parts;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const auto& size = size_of(tensors[index]);
    const auto step = std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, size.columns));
    for (std::int64_t row = 0; row < size.rows; row += step)
      parts.push_back({index, row, std::min<std::int64_t>(step, size.rows - row)});
  }
  return parts;
}

}  // namespace draftscope::engine
