// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_shape.h>

#include <draftscope/base/json_text.h>
#include <draftscope/speculation/model_families.h>
#include <draftscope/speculation/model_shape_json.h>
#include <algorithm>

#include "size_ranges.h"

namespace draftscope::speculation {
namespace {

Result<void> check_range(std::int32_t value, Range<std::int32_t> range, std::string_view name,
                         std::string_view source) {
  if (value < range.min || value > range.max)
    return fail("{}: {} is {}, expected {} to {}", source, name, value, range.min, range.max);
  return {};
}

}  // namespace

bool same_sizes(const ModelShape& a, const ModelShape& b) {
  return std::all_of(shape_sizes.begin(), shape_sizes.end(),
                     [&](const auto& size) { return a.*size.second == b.*size.second; }) &&
         a.traits.gated_mlp == b.traits.gated_mlp;
}

Result<void> check_sizes(const ModelShape& shape, std::string_view source) {
  constexpr std::array ranges{layers_range,   width_range, heads_range, heads_range,
                              head_dim_range, width_range, vocab_range};
  for (std::size_t i = 0; i < shape_sizes.size(); ++i)
    DRAFTSCOPE_TRY(check_range(shape.*shape_sizes[i].second, ranges[i], shape_sizes[i].first, source));
  if (shape.n_heads % shape.n_kv_heads != 0)
    return fail("{}: n_kv_heads is {}, expected a divisor of n_heads {}", source, shape.n_kv_heads,
                shape.n_heads);
  return {};
}

Result<void> check_shape(const ModelShape& shape, std::string_view source) {
  DRAFTSCOPE_TRY(check_sizes(shape, source));
  DRAFTSCOPE_TRY(check_range(shape.max_positions, positions_range, "max_positions", source));
  // Rotary embeddings rotate pairs of dimensions.
  if (shape.head_dim % 2 != 0)
    return fail("{}: head_dim is {}, expected an even number", source, shape.head_dim);
  const auto pairs = static_cast<std::size_t>(shape.head_dim / 2);
  if (!shape.rope.divisors.empty() && shape.rope.divisors.size() != pairs)
    return fail("{}: {} divisors of frequencies, expected one for each of {} pairs", source,
                shape.rope.divisors.size(), pairs);
  return {};
}

double head_in_layers(const ModelShape& shape) {
  const double model = shape.d_model;
  const double layer =
      model * (2.0 * shape.q_width() + 2.0 * shape.kv_width() + 1.0 * shape.mlp_matrices() * shape.d_ff);
  return model * shape.vocab / layer;
}

namespace {

using Json = nlohmann::ordered_json;

void add_sizes(const ModelShape& shape, Json& json) {
  for (const auto& [name, member] : shape_sizes) json[name] = shape.*member;
}

Result<void> read_sizes(const JsonField& field, ModelShape& shape) {
  for (const auto& [name, member] : shape_sizes) {
    DRAFTSCOPE_TRY_ASSIGN(shape.*member, field[name].integer<std::int32_t>());
  }
  return check_sizes(shape, field.name());
}

}  // namespace

std::string recorded_shape_json(const ModelShape& shape) {
  Json json{{"architecture", shape.architecture}};
  add_sizes(shape, json);
  json["max_positions"] = shape.max_positions;
  json["tied_embeddings"] = shape.tied_embeddings;
  json["qkv_bias"] = shape.qkv_bias;
  json["sliding_window"] = shape.sliding_window;
  json["eos_tokens"] = shape.eos_tokens;
  return json.dump();
}

Result<ModelShape> parse_recorded_shape(std::string_view text, std::string_view source) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail("{} is not a JSON object, expected the recorded model's shape", source);
  const JsonField field(json, source);
  ModelShape shape;
  DRAFTSCOPE_TRY(read_sizes(field, shape));
  constexpr Range<std::int32_t> from_zero{.min = 0};
  DRAFTSCOPE_TRY_ASSIGN(shape.architecture, field["architecture"].text_or(""));
  const ModelFamily* const family = find_architecture(shape.architecture);
  shape.traits.gated_mlp = family == nullptr || family->traits.gated_mlp;
  DRAFTSCOPE_TRY_ASSIGN(shape.max_positions, field["max_positions"].integer_or(from_zero, 0));
  DRAFTSCOPE_TRY_ASSIGN(shape.tied_embeddings, field["tied_embeddings"].boolean_or(false));
  DRAFTSCOPE_TRY_ASSIGN(shape.qkv_bias, field["qkv_bias"].boolean_or(false));
  DRAFTSCOPE_TRY_ASSIGN(shape.sliding_window, field["sliding_window"].integer_or(from_zero, 0));
  if (field["eos_tokens"].is_null()) return shape;
  DRAFTSCOPE_TRY_ASSIGN(const auto tokens, field["eos_tokens"].list());
  for (const JsonField& token : tokens) {
    DRAFTSCOPE_TRY_ASSIGN(shape.eos_tokens.emplace_back(), token.integer(from_zero));
  }
  return shape;
}

nlohmann::ordered_json named_sizes_json(const ModelShape& shape) {
  Json json{{"name", shape.name}};
  add_sizes(shape, json);
  if (!shape.traits.gated_mlp) json["gated_mlp"] = false;
  return json;
}

Result<ModelShape> parse_named_sizes(const JsonField& field) {
  ModelShape shape;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, field["name"].text());
  DRAFTSCOPE_TRY_ASSIGN(shape.traits.gated_mlp, field["gated_mlp"].boolean_or(true));
  DRAFTSCOPE_TRY(read_sizes(field, shape));
  return shape;
}

}  // namespace draftscope::speculation
