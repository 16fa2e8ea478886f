// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads GGUF files, versions 2 and 3, little-endian: metadata, a table of tensors and their data (as the ggml
// project documents the format). The input is untrusted.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "byte_cursor.h"
#include "checkpoint/mapped_file.h"
#include "formats/block_formats.h"
#include "metadata.h"

namespace draftscope::engine::gguf {

/// A tensor of a file. Its name points into the file.
struct StoredTensor {
  std::string_view name;
  const BlockFormat* format = nullptr;  ///< always a format that can be read
  std::vector<std::uint64_t> extents;   ///< 1 to 4 extents, none of them 0; the first is the length of a row
  std::uint64_t begin = 0;              ///< start of its data in the file, in bytes
  std::uint64_t bytes = 0;
  [[nodiscard]] std::uint64_t row_bytes() const { return extents[0] / format->weights * format->bytes; }
  [[nodiscard]] const std::byte* data(std::span<const std::byte> file_bytes) const {
    return file_bytes.data() + begin;
  }
};

/// Reads `count` entries at the cursor; data begins at the next multiple of `alignment` (a power of two).
/// Errors: the file ends, a type is not readable, a row is no whole number of blocks, or a name occurs twice;
/// data is beyond the end of the file, misaligned, or not directly after the previous tensor's.
[[nodiscard]] Result<std::vector<StoredTensor>> read_tensor_table(std::uint64_t count,
                                                                  std::uint64_t alignment,
                                                                  std::uint64_t file_bytes,
                                                                  ByteCursor& cursor);

struct GgufHeader {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  std::size_t bytes = 0;  ///< bytes up to the end of the table
};

/// Parses the header of a file whose bytes are `bytes`. Only the header is read; `bytes` must outlive the
/// result. `file` is the name in errors. Errors: no GGUF, a big-endian file, another version, and those of
/// Metadata::read() and read_tensor_table().
[[nodiscard]] Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes, std::string_view file);

/// A file and its header.
struct GgufFile {
  std::string path;  ///< path for errors
  Mapping mapping;
  GgufHeader header;
};
[[nodiscard]] Result<GgufFile> open_gguf_file(const std::filesystem::path& path);

/// A model: one file, or the parts "NAME-00001-of-0000N.gguf" of a split one, in order. The first part has
/// the metadata.
struct GgufModel {
  std::vector<GgufFile> files;
  struct TensorPlace {
    const GgufFile* file;
    const StoredTensor* tensor;
  };
  std::unordered_map<std::string_view, TensorPlace> tensors;  ///< tensors of all files, by name

  [[nodiscard]] const Metadata& metadata() const { return files.front().header.metadata; }
};

/// Opens a model; `path` is the file, or the first part of a split one. Errors: a part that is missing or
/// belongs to another model, a tensor in two parts, and those of parse_gguf_header().
[[nodiscard]] Result<GgufModel> open_gguf(const std::filesystem::path& path);

}  // namespace draftscope::engine::gguf
