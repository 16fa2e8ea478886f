// SPDX-License-Identifier: GPL-3.0-or-later
#include "shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cpu/kernels/bf16.h"
#include "tensor_names.h"

namespace draftscope::engine::gguf {
namespace {

using speculation::ModelShape;
using speculation::RopeKind;

constexpr Range<std::int32_t> size_range{1, std::numeric_limits<std::int32_t>::max()};
constexpr Range<double> epsilon_range{0.0, 0.1};
constexpr Range<double> theta_range{1.0 + 1e-9, 1e12};
constexpr Range<double> factor_range{1.0, 1e6};
constexpr Range<double> beta_range{1e-6, 1e6};

/// A key that asks for what no backend computes, unless it has its neutral value.
struct ForeignKey {
  std::string_view key;  ///< behind the architecture's name
  double neutral;
  std::string_view trait;
};

constexpr std::array foreign_keys{
    ForeignKey{"expert_count", 0.0, "a mixture of experts"},
    ForeignKey{"nextn_predict_layers", 0.0, "layers that predict further tokens"},
    ForeignKey{"attention.sliding_window", 0.0, "a sliding window"},
    ForeignKey{"attention.clamp_kqv", 0.0, "a limit of queries, keys and values"},
    ForeignKey{"attention.max_alibi_bias", 0.0, "a bias by distance"},
    ForeignKey{"attention.scale", 0.0, "a multiplier of attention"},
    ForeignKey{"attn_logit_softcapping", 0.0, "attention logit soft-capping"},
    ForeignKey{"final_logit_softcapping", 0.0, "logit soft-capping"},
    ForeignKey{"logit_scale", 1.0, "a multiplier of logits"},
    ForeignKey{"residual_scale", 1.0, "a multiplier of residuals"},
    ForeignKey{"embedding_scale", 1.0, "a multiplier of embeddings"},
    ForeignKey{"rope.scaling.attn_factor", 1.0, "a multiplier of rotated vectors"},
    ForeignKey{"rope.scaling.yarn_attn_factor", 1.0, "a multiplier of rotated vectors"},
    ForeignKey{"rope.scaling.yarn_ext_factor", 1.0, "another mixture of frequencies"},
    ForeignKey{"rope.scaling.yarn_log_multiplier", 0.0, "a multiplier of rotated vectors"},
};

/// Reads the keys of one architecture.
class ShapeReader {
 public:
  ShapeReader(const GgufModel& model, const Architecture& architecture)
      : model_(model), metadata_(model.metadata()), architecture_(architecture) {}

  Result<ModelShape> read() {
    DRAFTSCOPE_TRY(check_nothing_foreign());
    shape_.architecture = architecture_.family->architecture;
    shape_.traits = architecture_.family->traits;
    DRAFTSCOPE_TRY(read_sizes());
    DRAFTSCOPE_TRY(read_vocabulary());
    DRAFTSCOPE_TRY_ASSIGN(shape_.rms_epsilon,
                          metadata_.number(key("attention.layer_norm_rms_epsilon"), epsilon_range));
    read_optional_tensors();
    DRAFTSCOPE_TRY(speculation::check_shape(shape_, metadata_.file()));
    DRAFTSCOPE_TRY(read_rope());
    DRAFTSCOPE_TRY(read_tokens());
    return std::move(shape_);
  }

 private:
  std::string key(std::string_view name) const { return fmt::format("{}.{}", architecture_.name, name); }

  bool has_tensor(std::string_view name) const { return model_.tensors.contains(name); }

  Result<void> check_nothing_foreign() const {
    for (const ForeignKey& foreign : foreign_keys) {
      const std::string name = key(foreign.key);
      if (!metadata_.has(name)) continue;
      DRAFTSCOPE_TRY_ASSIGN(const auto value, metadata_.number(name, {}));
      if (value != foreign.neutral)
        return metadata_.wrong(name,
                               fmt::format("{}: no backend computes {}", foreign.neutral, foreign.trait));
    }
    return {};
  }

  Result<void> read_sizes() {
    DRAFTSCOPE_TRY_ASSIGN(shape_.n_layers, metadata_.integer(key("block_count"), size_range));
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

  /// A key that may be there, and then repeats the head size.
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

  Result<void> read_rope() {
    DRAFTSCOPE_TRY(expect_head_dim("rope.dimension_count"));
    auto& rope = shape_.rope;
    DRAFTSCOPE_TRY_ASSIGN(rope.theta, metadata_.number_or(key("rope.freq_base"), theta_range, rope.theta));
    const std::string type_name = key("rope.scaling.type");
    DRAFTSCOPE_TRY_ASSIGN(const auto type, metadata_.text_or(type_name, "linear"));
    // Files before scaling had a type say scale_linear.
    const bool is_old = !metadata_.has(key("rope.scaling.factor"));
    const std::string factor_name = key(is_old ? "rope.scale_linear" : "rope.scaling.factor");
    const bool is_scaled = metadata_.has(factor_name) && type != "none";
    if (type == "yarn") {
      DRAFTSCOPE_TRY(read_yarn(factor_name));
    } else if (type != "linear" && type != "none") {
      return metadata_.wrong(type_name, "none, linear or yarn");
    } else if (is_scaled) {
      DRAFTSCOPE_TRY_ASSIGN(rope.factor, metadata_.number(factor_name, factor_range));
      if (rope.factor != 1.0) rope.kind = RopeKind::linear;
    }
    return read_divisors();
  }

  Result<void> read_yarn(const std::string& factor_name) {
    auto& rope = shape_.rope;
    rope.kind = RopeKind::yarn;
    DRAFTSCOPE_TRY_ASSIGN(rope.factor, metadata_.number(factor_name, factor_range));
    DRAFTSCOPE_TRY_ASSIGN(
        rope.original_max_positions,
        metadata_.integer_or(key("rope.scaling.original_context_length"), size_range, shape_.max_positions));
    DRAFTSCOPE_TRY_ASSIGN(
        rope.beta_fast, metadata_.number_or(key("rope.scaling.yarn_beta_fast"), beta_range, rope.beta_fast));
    DRAFTSCOPE_TRY_ASSIGN(
        rope.beta_slow, metadata_.number_or(key("rope.scaling.yarn_beta_slow"), beta_range, rope.beta_slow));
    if (rope.beta_fast < rope.beta_slow)
      return metadata_.wrong(key("rope.scaling.yarn_beta_fast"),
                             fmt::format("at least yarn_beta_slow, {}", rope.beta_slow));
    return {};
  }

  /// Llama 3.1's scaling, which GGUF files hold as its result.
  Result<void> read_divisors() {
    const auto place = model_.tensors.find(frequency_divisors_name);
    if (place == model_.tensors.end()) return {};
    const auto& [file, tensor] = place->second;
    const std::int32_t pairs = shape_.head_dim / 2;
    if (tensor->extents.size() != 1 || std::cmp_not_equal(tensor->extents[0], pairs) ||
        tensor->format->plain != DType::f32)
      return fail("{}: tensor {}: {} [{}], expected F32 [{}]", file->path, frequency_divisors_name,
                  tensor->format->name, fmt::join(tensor->extents, ", "), pairs);
    if (shape_.rope.kind != RopeKind::standard)
      return fail("{}: tensor {} is there beside {}, expected one of the two", file->path,
                  frequency_divisors_name, key("rope.scaling.type"));
    for (std::int32_t pair = 0; pair < pairs; ++pair) {
      const auto divisor = cpu::load_unaligned<float>(tensor->data(file->mapping.bytes()) +
                                                      static_cast<std::size_t>(pair) * sizeof(float));
      if (!std::isfinite(divisor) || !(divisor > 0.0F))
        return fail("{}: tensor {}: element {} is {}, expected a positive number", file->path,
                    frequency_divisors_name, pair, divisor);
      shape_.rope.divisors.push_back(divisor);
    }
    return {};
  }

  Result<void> read_tokens() {
    const Range<std::int32_t> token_range{0, shape_.vocab - 1};
    DRAFTSCOPE_TRY_ASSIGN(shape_.bos_token,
                          metadata_.integer_or("tokenizer.ggml.bos_token_id", token_range, -1));
    // Whatever ends a text, a turn or a message ends a request.
    for (const char* const name :
         {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      DRAFTSCOPE_TRY_ASSIGN(const auto token, metadata_.integer_or(name, token_range, -1));
      const bool is_known =
          std::find(shape_.eos_tokens.begin(), shape_.eos_tokens.end(), token) != shape_.eos_tokens.end();
      if (token >= 0 && !is_known) shape_.eos_tokens.push_back(token);
    }
    return {};
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
