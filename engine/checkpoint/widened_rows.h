// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::engine {

/// Rows of a tensor that is held packed (not is_plain()), as numbers of its type.
[[nodiscard]] std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first,
                                                  std::int64_t rows);

}  // namespace draftscope::engine
