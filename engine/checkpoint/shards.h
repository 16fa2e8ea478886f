// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The safetensors files of a Hugging Face folder, and the tensors in them by name.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mapped_file.h"
#include "safetensors_header.h"

namespace draftscope::engine {

struct Shard {
  std::string file;  ///< path as errors name it
  Mapping mapping;
  SafetensorsHeader header;
};

struct Shards {
  std::map<std::string, Shard>
      by_name;  ///< file name; ordered, so that the hash does not depend on the index
  /// Only of a sharded checkpoint: which file the index says holds a tensor.
  std::unordered_map<std::string, std::string> weight_map;
  std::string index_file;
};

/// A tensor where it lies in its file.
struct FileTensor {
  const Shard* shard = nullptr;
  const SafetensorsEntry* entry = nullptr;

  [[nodiscard]] const std::byte* data() const { return shard->mapping.bytes().data() + entry->begin; }
};

/// The tensors by the names that they have in a file of the decoder alone.
using FileTensors = std::unordered_map<std::string, FileTensor>;

/// As Hugging Face looks for them: one file first, then the index of several.
[[nodiscard]] Result<Shards> open_shards(const std::filesystem::path& folder);

/// The tensor each name stands for; a file's tensors that the index places elsewhere do not count. `nested`:
/// the decoder is a part of a larger model.
[[nodiscard]] FileTensors tensors_of(const Shards& shards, bool nested);

/// The plain type of a tensor. Errors: it has another, or does not begin at a multiple of its size, which the
/// kernels ask for.
[[nodiscard]] Result<DType> parse_dtype(const FileTensor& tensor);

/// The error of a tensor that is not there. `extents`: of what was expected, "[12, 8]".
[[nodiscard]] tl::unexpected<Error> missing_tensor(const Shards& shards, const std::string& name,
                                                   std::string_view extents);

}  // namespace draftscope::engine
