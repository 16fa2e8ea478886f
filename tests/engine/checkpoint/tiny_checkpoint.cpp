// SPDX-License-Identifier: GPL-3.0-or-later
#include "tiny_checkpoint.h"

#include <draftscope/engine/opening_notes.h>
#include <algorithm>
#include <stdexcept>

namespace draftscope::engine::tiny {

std::string safetensors_file(std::string_view header, std::size_t data_bytes) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  file += header;
  return file.append(data_bytes, '\0');
}

std::string safetensors_file(std::span<const StoredTensor> tensors, std::size_t padding) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  std::size_t begin = 0;
  for (const auto& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, begin + tensor.bytes.size()}}};
    begin += tensor.bytes.size();
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8 + padding, ' ');
  auto file = safetensors_file(text, 0);
  for (const auto& tensor : tensors) file += tensor.bytes;
  return file;
}

nlohmann::json tiny_config() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"hidden_size", 8},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 1},
          {"intermediate_size", 12},
          {"vocab_size", 10},
          {"max_position_embeddings", 64},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000.0}};
}

std::vector<StoredTensor> tiny_tensors(std::string_view dtype) {
  std::vector<StoredTensor> tensors;
  const std::size_t element_bytes = dtype == "F32" ? 4 : 2;
  const auto add = [&](std::string name, std::vector<std::uint64_t> shape) {
    std::size_t elements = 1;
    for (const auto extent : shape) elements *= extent;
    // Bytes below 0x40 are small finite numbers in all three types.
    std::string bytes(elements * element_bytes, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>((i + 7 * tensors.size()) % 0x40);
    tensors.push_back({std::move(name), std::string(dtype), std::move(shape), std::move(bytes)});
  };
  add("model.embed_tokens.weight", {10, 8});
  for (const char* const layer : {"model.layers.0.", "model.layers.1."}) {
    const std::string prefix = layer;
    add(prefix + "input_layernorm.weight", {8});
    add(prefix + "self_attn.q_proj.weight", {8, 8});
    add(prefix + "self_attn.k_proj.weight", {4, 8});
    add(prefix + "self_attn.v_proj.weight", {4, 8});
    add(prefix + "self_attn.o_proj.weight", {8, 8});
    add(prefix + "post_attention_layernorm.weight", {8});
    add(prefix + "mlp.gate_proj.weight", {12, 8});
    add(prefix + "mlp.up_proj.weight", {12, 8});
    add(prefix + "mlp.down_proj.weight", {8, 12});
  }
  add("model.norm.weight", {8});
  add("lm_head.weight", {10, 8});
  return tensors;
}

StoredTensor& tensor_named(std::vector<StoredTensor>& tensors, std::string_view name) {
  return *std::find_if(tensors.begin(), tensors.end(),
                       [&](const auto& tensor) { return tensor.name == name; });
}

void write_tiny_checkpoint(const std::filesystem::path& folder) {
  write_tiny_checkpoint(folder, tiny_config(), tiny_tensors());
}

void write_tiny_checkpoint(const std::filesystem::path& folder, const nlohmann::json& config,
                           std::span<const StoredTensor> tensors) {
  write_bytes(folder / "config.json", config.dump());
  write_bytes(folder / "model.safetensors", safetensors_file(tensors));
}

Checkpoint loaded_tiny(std::span<const StoredTensor> tensors, std::vector<std::string>& notes,
                       const nlohmann::json& config) {
  const TemporaryFolder folder;
  write_tiny_checkpoint(folder.path(), config, tensors);
  auto checkpoint = load_checkpoint(folder.path(), BlockMatrices::widened, notes);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  return *std::move(checkpoint);
}

Checkpoint loaded_tiny(std::span<const StoredTensor> tensors, const nlohmann::json& config) {
  std::vector<std::string> notes;
  return loaded_tiny(tensors, notes, config);
}

std::string refusal_of(std::span<const StoredTensor> tensors, const nlohmann::json& config) {
  const TemporaryFolder folder;
  write_tiny_checkpoint(folder.path(), config, tensors);
  const auto checkpoint = load_checkpoint(folder.path());
  return checkpoint ? "" : checkpoint.error().message;
}

void write_sharded_checkpoint(const std::filesystem::path& folder, std::span<const StoredTensor> tensors) {
  std::vector<StoredTensor> shards[2];
  const std::string names[2] = {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"};
  nlohmann::json index{{"metadata", {{"total_size", 0}}}};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    shards[i % 2].push_back(tensors[i]);
    index["weight_map"][tensors[i].name] = names[i % 2];
  }
  write_bytes(folder / "config.json", tiny_config().dump());
  write_bytes(folder / "model.safetensors.index.json", index.dump());
  for (std::size_t shard = 0; shard < 2; ++shard)
    write_bytes(folder / names[shard], safetensors_file(shards[shard]));
}

}  // namespace draftscope::engine::tiny
