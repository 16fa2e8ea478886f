// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_shape_json.h>

#include <draftscope/base/json_text.h>

namespace draftscope::speculation {
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
  return json;
}

Result<ModelShape> parse_named_sizes(const JsonField& field) {
  ModelShape shape;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, field["name"].text());
  DRAFTSCOPE_TRY(read_sizes(field, shape));
  return shape;
}

}  // namespace draftscope::speculation
