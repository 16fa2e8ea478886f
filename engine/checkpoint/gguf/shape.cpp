// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/gguf/shape.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "checkpoint/gguf/tensor_names.h"

namespace draftscope::engine::gguf {

namespace {

using speculation::ModelShape;

constexpr Range<std::int32_t> size_range{1, std::numeric_limits<std::int32_t>::max()};
constexpr Range<double> epsilon_range{0.0, 0.1};

/// Reads the keys of one architecture.
class ShapeReader {
 public:
  ShapeReader(const GgufModel& model, const Architecture& architecture)
      : model_(model), metadata_(model.metadata()), architecture_(architecture) {}

  Result<ModelShape> read() {
    shape_.architecture = architecture_.family->architecture;
    shape_.traits = architecture_.family->traits;
    // If a family adds one to its norms' weights, converters have already done so.
    shape_.traits.norm_weight = speculation::NormWeight::plain;
    DRAFTSCOPE_TRY(read_sizes());
    DRAFTSCOPE_TRY(read_particulars(metadata_, architecture_, shape_));
    DRAFTSCOPE_TRY(read_vocabulary());
    DRAFTSCOPE_TRY_ASSIGN(shape_.rms_epsilon,
                          metadata_.number(key("attention.layer_norm_rms_epsilon"), epsilon_range));
    read_optional_tensors();
    DRAFTSCOPE_TRY(speculation::check_shape(shape_, metadata_.file()));
    DRAFTSCOPE_TRY_ASSIGN(shape_.rope, read_rope(model_, architecture_, shape_));
    DRAFTSCOPE_TRY(read_tokens());
    return std::move(shape_);
  }

 private:
  std::string key(std::string_view name) const { return architecture_.key(name); }

  bool has_tensor(std::string_view name) const { return model_.tensors.contains(name); }

  Result<void> read_sizes() {
    DRAFTSCOPE_TRY_ASSIGN(shape_.n_layers, metadata_.integer(key("block_count"), size_range));
    DRAFTSCOPE_TRY(leave_out_further_layers());
    DRAFTSCOPE_TRY_ASSIGN(shape_.max_positions, metadata_.integer(key("context_length"), size_range));
    DRAFTSCOPE_TRY_ASSIGN(shape_.d_model, metadata_.integer(key("embedding_length"), size_range));
    DRAFTSCOPE_TRY_ASSIGN(shape_.d_ff, metadata_.shared_integer(key("feed_forward_length"), size_range));
    DRAFTSCOPE_TRY_ASSIGN(shape_.n_heads, metadata_.shared_integer(key("attention.head_count"), size_range));
    shape_.n_kv_heads = shape_.n_heads;
    if (const auto name = key("attention.head_count_kv"); metadata_.has(name)) {
      DRAFTSCOPE_TRY_ASSIGN(shape_.n_kv_heads, metadata_.shared_integer(name, size_range));
    }
    const auto head_name = key("attention.key_length");
    if (!metadata_.has(head_name) && shape_.d_model % shape_.n_heads != 0)
      return metadata_.wrong(key("embedding_length"),
                             fmt::format("a multiple of the {} heads", shape_.n_heads));
    DRAFTSCOPE_TRY_ASSIGN(shape_.head_dim,
                          metadata_.integer_or(head_name, size_range, shape_.d_model / shape_.n_heads));
    return expect_head_dim("attention.value_length");
  }

  /// Leaves out the last blocks if they predict further tokens. Each must be absent or be known by its
  /// tensors "nextn.…"; a whole layer without these would be one of the decoder's.
  Result<void> leave_out_further_layers() {
    const std::string name = key("nextn_predict_layers");
    DRAFTSCOPE_TRY_ASSIGN(const auto further,
                          metadata_.integer_or<std::int32_t>(name, {0, shape_.n_layers - 1}, 0));
    const std::int32_t end = std::exchange(shape_.n_layers, shape_.n_layers - further);
    for (std::int32_t layer = shape_.n_layers; layer < end; ++layer) {
      bool is_present = false;
      bool is_further = false;
      for (const auto& [tensor, place] : model_.tensors) {
        if (layer_of(tensor) != layer) continue;
        is_present = true;
        is_further = is_further || tensor.find(".nextn.") != std::string_view::npos;
      }
      if (is_present && !is_further)
        return metadata_.wrong(name, fmt::format("fewer: blk.{} has no tensor 'nextn.…'", layer));
    }
    return {};
  }

  /// Checks an optional key that repeats the head size.
  Result<void> expect_head_dim(std::string_view name) const {
    DRAFTSCOPE_TRY_ASSIGN(const auto found, metadata_.integer_or(key(name), size_range, shape_.head_dim));
    if (found != shape_.head_dim)
      return metadata_.wrong(key(name), fmt::format("the head size, {}", shape_.head_dim));
    return {};
  }

  Result<void> read_vocabulary() {
    constexpr std::string_view name = "token_embd.weight";
    const auto place = model_.tensors.find(name);
    if (place == model_.tensors.end())
      return fail("{}: tensor {} is missing, expected the embeddings", metadata_.file(), name);
    const auto& extents = place->second.tensor->extents;
    const std::uint64_t rows = extents.size() == 2 ? extents[1] : 0;
    if (rows == 0 || rows > static_cast<std::uint64_t>(size_range.max))
      return fail("{}: tensor {}: shape is [{}], expected [{}, vocabulary]", place->second.file->path, name,
                  fmt::join(extents, ", "), shape_.d_model);
    shape_.vocab = static_cast<std::int32_t>(rows);
    DRAFTSCOPE_TRY_ASSIGN(const auto stated,
                          metadata_.integer_or(key("vocab_size"), size_range, shape_.vocab));
    if (stated != shape_.vocab)
      return metadata_.wrong(key("vocab_size"), fmt::format("{}, as {} has rows", shape_.vocab, name));
    return {};
  }

  void read_optional_tensors() {
    shape_.tied_embeddings = !has_tensor("output.weight");
    shape_.qkv_bias = architecture_.qkv_bias || has_tensor("blk.0.attn_q.bias");
    shape_.output_bias = has_tensor("blk.0.attn_output.bias");
    shape_.mlp_bias = has_tensor("blk.0.ffn_down.bias");
  }

  Result<void> read_tokens() {
    const Range<std::int32_t> token_range{0, shape_.vocab - 1};
    DRAFTSCOPE_TRY_ASSIGN(shape_.bos_token,
                          metadata_.integer_or("tokenizer.ggml.bos_token_id", token_range, -1));
    // A request ends with any token that ends a text, a turn or a message.
    for (const char* const name :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      DRAFTSCOPE_TRY_ASSIGN(const auto token, metadata_.integer_or(name, token_range, -1));
      add_end(token);
    }
    add_end(find_turn_end());
    return {};
  }

  void add_end(std::int32_t token) {
    auto& ends = shape_.eos_tokens;
    if (token >= 0 && std::find(ends.begin(), ends.end(), token) == ends.end()) ends.push_back(token);
  }

  /// Id of the token that ends a turn; -1 if the vocabulary lacks it.
  std::int32_t find_turn_end() const {
    const MetadataValue* const tokens = metadata_.find("tokenizer.ggml.tokens");
    if (architecture_.turn_end.empty() || tokens == nullptr) return -1;
    const auto found = std::find(tokens->texts.begin(), tokens->texts.end(), architecture_.turn_end);
    const auto token = found - tokens->texts.begin();
    return found != tokens->texts.end() && token < shape_.vocab ? static_cast<std::int32_t>(token) : -1;
  }

  const GgufModel& model_;
  const Metadata& metadata_;
  const Architecture& architecture_;
  ModelShape shape_;
};

}  // namespace

Result<ModelShape> read_shape(const GgufModel& model, const Architecture& architecture) {
  return ShapeReader(model, architecture).read();
}

}  // namespace draftscope::engine::gguf
