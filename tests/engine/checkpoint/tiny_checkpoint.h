// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A checkpoint of a few kilobytes, made in a temporary folder, for tests to read and to damage.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../temporary_folder.h"

namespace draftscope::engine::tiny {

using draftscope::test::TemporaryFolder;
using draftscope::test::write_bytes;

struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

/// Length, header and data of a file, with tensors in the order given. `padding` spaces end the header.
[[nodiscard]] std::string safetensors_file(std::span<const StoredTensor> tensors, std::size_t padding = 0);

/// A safetensors file with this header text and this many zero bytes of data.
[[nodiscard]] std::string safetensors_file(std::string_view header, std::size_t data_bytes);

[[nodiscard]] nlohmann::json tiny_config();

/// The tensors that tiny_config() requires, by default in bf16, filled with a pattern that tells them apart.
[[nodiscard]] std::vector<StoredTensor> tiny_tensors(std::string_view dtype = "BF16");
[[nodiscard]] StoredTensor& tensor_named(std::vector<StoredTensor>& tensors, std::string_view name);

/// Writes config.json and model.safetensors.
void write_tiny_checkpoint(const std::filesystem::path& folder);
void write_tiny_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                           std::span<const StoredTensor> tensors);
/// Loads a checkpoint of these tensors, or throws with the error. Its files are gone afterwards, but not
/// their mappings. `notes` as load_checkpoint() has them.
[[nodiscard]] Checkpoint loaded_tiny(std::span<const StoredTensor> tensors, std::vector<std::string>& notes,
                                     const nlohmann::json& config = tiny_config());
[[nodiscard]] Checkpoint loaded_tiny(std::span<const StoredTensor> tensors,
                                     const nlohmann::json& config = tiny_config());
/// The error with which a checkpoint of these tensors is refused; empty if it is not.
[[nodiscard]] std::string refusal_of(std::span<const StoredTensor> tensors,
                                     const nlohmann::json& config = tiny_config());
/// Writes two shards and their index; the tensors alternate between the shards.
void write_sharded_checkpoint(const std::filesystem::path& folder, std::span<const StoredTensor> tensors);

}  // namespace draftscope::engine::tiny
