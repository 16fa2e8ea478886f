// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/gguf/shape.h"

#include <cmath>
#include <limits>

#include "checkpoint/gguf/tensor_names.h"
#include "numbers/bf16.h"
#include "numbers/rope.h"

namespace draftscope::engine::gguf {
namespace {

using speculation::ModelShape;
using speculation::RopeKind;
using speculation::RopeScaling;

constexpr Range<std::int32_t> context_range{1, std::numeric_limits<std::int32_t>::max()};
constexpr Range<double> theta_range{1.0 + 1e-9, 1e12};
constexpr Range<double> factor_range{1.0, 1e6};
constexpr Range<double> beta_range{1e-6, 1e6};

class RopeReader {
 public:
  RopeReader(const GgufModel& model, const Architecture& architecture, const ModelShape& shape)
      : model_(model), metadata_(model.metadata()), architecture_(architecture), shape_(shape) {}

  Result<RopeScaling> read() {
    DRAFTSCOPE_TRY(read_width());
    DRAFTSCOPE_TRY_ASSIGN(rope_.theta, metadata_.number_or(key("rope.freq_base"), theta_range, rope_.theta));
    if (shape_.sliding_window > 0) {
      DRAFTSCOPE_TRY_ASSIGN(rope_.local_theta, metadata_.number_or(key("rope.freq_base_swa"), theta_range,
                                                                   architecture_.family->local_theta));
    }
    DRAFTSCOPE_TRY(read_kind());
    DRAFTSCOPE_TRY(read_divisors());
    DRAFTSCOPE_TRY(read_query_scale());
    return std::move(rope_);
  }

 private:
  std::string key(std::string_view after_name) const { return architecture_.key(after_name); }

  Result<void> read_width() {
    const std::string name = key("rope.dimension_count");
    const std::int32_t head_dim = shape_.head_dim;
    DRAFTSCOPE_TRY_ASSIGN(width_, metadata_.integer_or(name, context_range, head_dim));
    if (width_ == head_dim) return {};
    if (!architecture_.family->rotates_partly)
      return metadata_.wrong(name, fmt::format("the head size, {}", head_dim));
    if (width_ > head_dim || width_ % 2 != 0)
      return metadata_.wrong(name, fmt::format("an even number up to the head size, {}", head_dim));
    rope_.rotated_dimensions = width_;
    return {};
  }

  bool has_tensor(std::string_view name) const { return model_.tensors.contains(name); }

  Result<void> read_kind() {
    const bool has_factors = has_tensor(long_factors_name);
    if (has_factors != has_tensor(short_factors_name))
      return fail("{}: tensor {} is missing, expected it beside {}", metadata_.file(),
                  has_factors ? short_factors_name : long_factors_name,
                  has_factors ? long_factors_name : short_factors_name);
    // Files of Phi-3 have the tensors but no type.
    const std::string type_name = key("rope.scaling.type");
    DRAFTSCOPE_TRY_ASSIGN(const auto type, metadata_.text_or(type_name, has_factors ? "longrope" : "linear"));
    if (has_factors) {
      if (type != "longrope")
        return metadata_.wrong(type_name, fmt::format("longrope beside tensor {}", long_factors_name));
      return read_longrope();
    }
    DRAFTSCOPE_TRY_ASSIGN(const double attention,
                          metadata_.number_or(key("rope.scaling.attn_factor"), {}, 1.0));
    if (attention != 1.0)
      return metadata_.wrong(key("rope.scaling.attn_factor"),
                             fmt::format("1 without tensor {}", long_factors_name));
    // Old files, from before scaling had a type, have scale_linear.
    const bool is_old = !metadata_.has(key("rope.scaling.factor"));
    const std::string factor_name = key(is_old ? "rope.scale_linear" : "rope.scaling.factor");
    if (type == "yarn") return read_yarn(factor_name);
    if (type != "linear" && type != "none")
      return metadata_.wrong(type_name,
                             fmt::format("none, linear or yarn without tensor {}", long_factors_name));
    if (type == "none" || !metadata_.has(factor_name)) return {};
    DRAFTSCOPE_TRY_ASSIGN(rope_.factor, metadata_.number(factor_name, factor_range));
    if (rope_.factor != 1.0) rope_.kind = RopeKind::linear;
    return {};
  }

  Result<std::int32_t> original_positions(Range<std::int32_t> range) const {
    return metadata_.integer_or(key("rope.scaling.original_context_length"), range, shape_.max_positions);
  }

  Result<void> read_yarn(const std::string& factor_name) {
    rope_.kind = RopeKind::yarn;
    DRAFTSCOPE_TRY_ASSIGN(rope_.factor, metadata_.number(factor_name, factor_range));
    DRAFTSCOPE_TRY_ASSIGN(rope_.original_max_positions, original_positions(context_range));
    DRAFTSCOPE_TRY_ASSIGN(rope_.beta_fast, metadata_.number_or(key("rope.scaling.yarn_beta_fast"), beta_range,
                                                               rope_.beta_fast));
    DRAFTSCOPE_TRY_ASSIGN(rope_.beta_slow, metadata_.number_or(key("rope.scaling.yarn_beta_slow"), beta_range,
                                                               rope_.beta_slow));
    if (rope_.beta_fast < rope_.beta_slow)
      return metadata_.wrong(key("rope.scaling.yarn_beta_fast"),
                             fmt::format("at least yarn_beta_slow, {}", rope_.beta_slow));
    // Readers take mscale for 1 where the key is there.
    DRAFTSCOPE_TRY_ASSIGN(rope_.mscale_all_dim,
                          metadata_.number_or(key("rope.scaling.yarn_log_multiplier"), {0.0, 1e6}, 0.0));
    rope_.mscale = rope_.mscale_all_dim > 0.0 ? 1.0 : 0.0;
    return {};
  }

  /// Reads the scale of queries, which counts in original contexts.
  Result<void> read_query_scale() {
    DRAFTSCOPE_TRY_ASSIGN(rope_.query_beta,
                          metadata_.number_or(key("attention.temperature_scale"), {0.0, 100.0}, 0.0));
    if (rope_.query_beta == 0.0) return {};
    DRAFTSCOPE_TRY_ASSIGN(rope_.original_max_positions, original_positions(context_range));
    return {};
  }

  Result<void> read_longrope() {
    rope_.kind = RopeKind::longrope;
    // The derived factor of attention divides by this length's logarithm.
    DRAFTSCOPE_TRY_ASSIGN(rope_.original_max_positions, original_positions({2, context_range.max}));
    rope_.factor = static_cast<double>(shape_.max_positions) / rope_.original_max_positions;
    DRAFTSCOPE_TRY_ASSIGN(const auto long_factors, read_pairs(long_factors_name));
    DRAFTSCOPE_TRY_ASSIGN(const auto short_factors, read_pairs(short_factors_name));
    rope_.long_factors.assign(long_factors.begin(), long_factors.end());
    rope_.short_factors.assign(short_factors.begin(), short_factors.end());
    const std::string name = key("rope.scaling.attn_factor");
    if (!metadata_.has(name)) return {};
    DRAFTSCOPE_TRY_ASSIGN(const double given, metadata_.number(name, beta_range));
    // Converters write the derived factor, in fp32. It is then derived here too, in full precision.
    const double derived = attention_factor(rope_);
    if (static_cast<float>(given) != static_cast<float>(derived)) rope_.attention_factor = given;
    return {};
  }

  /// Reads a positive number for each pair that rotates.
  Result<std::vector<float>> read_pairs(std::string_view name) const {
    const auto& [file, tensor] = model_.tensors.at(name);
    const std::int32_t pairs = width_ / 2;
    if (tensor->extents.size() != 1 || std::cmp_not_equal(tensor->extents[0], pairs) ||
        tensor->format->plain != DType::f32)
      return fail("{}: tensor {}: {} [{}], expected F32 [{}]", file->path, name, tensor->format->name,
                  fmt::join(tensor->extents, ", "), pairs);
    std::vector<float> numbers;
    for (std::int32_t pair = 0; pair < pairs; ++pair) {
      const auto number = load_unaligned<float>(tensor->data(file->mapping.bytes()) +
                                                static_cast<std::size_t>(pair) * sizeof(float));
      if (!std::isfinite(number) || !(number > 0.0F))
        return fail("{}: tensor {}: element {} is {}, expected a positive number", file->path, name, pair,
                    number);
      numbers.push_back(number);
    }
    return numbers;
  }

  /// Reads Llama 3.1's scaling, of which GGUF files store only the resulting divisors.
  Result<void> read_divisors() {
    if (!has_tensor(frequency_divisors_name)) return {};
    DRAFTSCOPE_TRY_ASSIGN(rope_.divisors, read_pairs(frequency_divisors_name));
    if (rope_.kind != RopeKind::standard)
      return fail(
          "{}: tensor {} is there beside {}, expected one of the two", metadata_.file(),
          frequency_divisors_name,
          rope_.kind == RopeKind::longrope ? std::string(long_factors_name) : key("rope.scaling.type"));
    return {};
  }

  const GgufModel& model_;
  const Metadata& metadata_;
  const Architecture& architecture_;
  const ModelShape& shape_;
  RopeScaling rope_;
  std::int32_t width_ = 0;  ///< number of dimensions that rotate
};

}  // namespace

Result<RopeScaling> read_rope(const GgufModel& model, const Architecture& architecture,
                              const ModelShape& shape) {
  return RopeReader(model, architecture, shape).read();
}

}  // namespace draftscope::engine::gguf
