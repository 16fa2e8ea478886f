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
  std::string file;  ///< path for errors
  Mapping mapping;
  SafetensorsHeader header;
};

struct Shards {
  std::map<std::string, Shard>
      by_name;  ///< file name; ordered, so that the hash does not depend on the index
  /// Only for a sharded checkpoint: the file that contains each tensor according to the index.
  std::unordered_map<std::string, std::string> weight_map;
  std::string index_file;
};

/// A tensor and its place in its file.
struct FileTensor {
  const Shard* shard = nullptr;
  const SafetensorsEntry* entry = nullptr;

  [[nodiscard]] const std::byte* data() const { return shard->mapping.bytes().data() + entry->begin; }
};

/// The tensors, by the names they have in a file that contains only the decoder.
using FileTensors = std::unordered_map<std::string, FileTensor>;

/// Opens the files in Hugging Face's order: a single file first, then the index of several. Without either,
/// all parts "NAME-00001-of-0000N.safetensors" of one set, which must be complete.
[[nodiscard]] Result<Shards> open_shards(const std::filesystem::path& folder);

/// The tensor of each name; tensors in a file other than the one the index gives are ignored. `nested`: the
/// decoder is a part of a larger model.
[[nodiscard]] FileTensors tensors_of(const Shards& shards, bool nested);

/// The plain type of a tensor, which may begin at any byte. Errors: it has another type.
[[nodiscard]] Result<DType> parse_dtype(const FileTensor& tensor);

/// The error for a missing tensor. `extents` are the expected ones: "[12, 8]".
[[nodiscard]] tl::unexpected<Error> missing_tensor(const Shards& shards, const std::string& name,
                                                   std::string_view extents);

}  // namespace draftscope::engine
