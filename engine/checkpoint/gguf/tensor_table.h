// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "block_formats.h"
#include "byte_cursor.h"

namespace draftscope::engine::gguf {

/// A tensor of a file. Its name looks into the file.
struct StoredTensor {
  std::string_view name;
  const BlockFormat* format = nullptr;  ///< one that can be read
  std::vector<std::uint64_t> extents;   ///< 1 to 4, none 0; the first is that of a row
  std::uint64_t begin = 0;              ///< of its data in the file, in bytes
  std::uint64_t bytes = 0;
  [[nodiscard]] std::uint64_t row_bytes() const { return extents[0] / format->weights * format->bytes; }
  [[nodiscard]] const std::byte* data(std::span<const std::byte> file_bytes) const {
    return file_bytes.data() + begin;
  }
};

/// Reads `count` entries at the cursor; data begins at the next multiple of `alignment` (a power of two).
/// Errors: the file ends, a type that is not readable, a row that is no whole number of blocks, data beyond
/// the end of the file, off its alignment or not behind that of the tensor before; a name that occurs twice.
[[nodiscard]] Result<std::vector<StoredTensor>> read_tensor_table(std::uint64_t count,
                                                                  std::uint64_t alignment,
                                                                  std::uint64_t file_bytes,
                                                                  ByteCursor& cursor);

}  // namespace draftscope::engine::gguf
