// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/csv_table.h>
#include <draftscope/simulator/hardware/model_shape.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include <draftscope/base/closest_names.h>

namespace draftscope::simulator {

extern const std::string_view published_models_csv;  // made from models/models.csv by the build

namespace {

using nlohmann::json;

Result<std::int32_t> as_count(std::int64_t value, std::string_view name, std::string_view field) {
  constexpr std::int64_t most = 1 << 24;
  if (value < 1 || value > most) return fail("{}: {} is {}, expected 1 to {}", name, field, value, most);
  return static_cast<std::int32_t>(value);
}

Result<std::int32_t> column(const CsvTable& table, std::size_t row, std::string_view field) {
  DRAFTSCOPE_TRY_ASSIGN(const auto value, table.integer(row, field));
  return as_count(value.value_or(0), table.name(), field);
}

Result<ModelShape> table_row(const CsvTable& table, std::size_t row) {
  ModelShape shape;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, table.text(row, "name"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, column(table, row, "n_layers"));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, column(table, row, "d_model"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, column(table, row, "n_heads"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads, column(table, row, "n_kv_heads"));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim, column(table, row, "head_dim"));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, column(table, row, "d_ff"));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, column(table, row, "vocab"));
  DRAFTSCOPE_TRY(check_shape(shape, table.name()));
  return shape;
}

Result<std::int32_t> field_of(const json& object, const char* field, std::string_view name) {
  const auto found = object.find(field);
  if (found == object.end()) return fail("{}: {} is missing, expected an integer", name, field);
  // Beyond int64 the library would wrap around in silence.
  if (!found->is_number_integer() ||
      (found->is_number_unsigned() &&
       found->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int32_t>::max()}))
    return fail("{}: {} is {}, expected an integer", name, field, found->dump().substr(0, 40));
  return as_count(found->get<std::int64_t>(), name, field);
}

/// A field that may be absent or null.
Result<std::int32_t> field_or(const json& object, const char* field, std::int32_t otherwise,
                              std::string_view name) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return otherwise;
  return field_of(object, field, name);
}

}  // namespace

Result<void> check_shape(const ModelShape& shape, std::string_view name) {
  for (const auto& [field, value] :
       {std::pair{"n_layers", shape.n_layers}, std::pair{"d_model", shape.d_model},
        std::pair{"n_heads", shape.n_heads}, std::pair{"n_kv_heads", shape.n_kv_heads},
        std::pair{"head_dim", shape.head_dim}, std::pair{"d_ff", shape.d_ff},
        std::pair{"vocab", shape.vocab}})
    DRAFTSCOPE_TRY(as_count(value, name, field));
  if (shape.n_heads % shape.n_kv_heads != 0)
    return fail("{}: n_kv_heads is {}, expected a divisor of n_heads ({})", name, shape.n_kv_heads,
                shape.n_heads);
  return {};
}

Result<std::vector<ModelShape>> known_model_shapes() {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, CsvTable::parse(published_models_csv, "models.csv"));
  std::vector<ModelShape> shapes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, table_row(table, row));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<ModelShape> find_model_shape(std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, CsvTable::parse(published_models_csv, "models.csv"));
  std::vector<std::string> names;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string known, table.text(row, "name"));
    DRAFTSCOPE_TRY_ASSIGN(const std::string hf_id, table.text(row, "hf_id"));
    if (comparable_name(known) == comparable_name(name) || comparable_name(hf_id) == comparable_name(name))
      return table_row(table, row);
    names.push_back(known);
  }
  return fail("model '{}' is unknown, expected a config.json or one of models.csv, as {}", name,
              closest_names(name, names));
}

Result<ModelShape> parse_model_config(std::string_view text, std::string_view name) {
  const json config = json::parse(text, nullptr, false);
  if (!config.is_object()) return fail("{}: is not a JSON object, expected a model's config.json", name);
  ModelShape shape;
  shape.name = name;
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, field_of(config, "num_hidden_layers", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, field_of(config, "hidden_size", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, field_of(config, "num_attention_heads", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads, field_or(config, "num_key_value_heads", shape.n_heads, name));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim, field_or(config, "head_dim", shape.d_model / shape.n_heads, name));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, field_of(config, "intermediate_size", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, field_of(config, "vocab_size", name));
  DRAFTSCOPE_TRY(check_shape(shape, name));
  return shape;
}

Result<ModelShape> recorded_shape(const traces::Meta& meta) {
  constexpr std::string_view name = "meta model_shape";
  const auto found = meta.find("model_shape");
  if (found == meta.end()) return fail("{} is missing, expected the recorded model's shape", name);
  const json recorded = json::parse(found->second, nullptr, false);
  if (!recorded.is_object())
    return fail("{} is not a JSON object, expected the recorded model's shape", name);
  ModelShape shape;
  const auto model = meta.find("model");
  shape.name = model == meta.end() ? "recorded model" : model->second;
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, field_of(recorded, "n_layers", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, field_of(recorded, "d_model", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, field_of(recorded, "n_heads", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads, field_of(recorded, "n_kv_heads", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim, field_of(recorded, "head_dim", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, field_of(recorded, "d_ff", name));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, field_of(recorded, "vocab", name));
  DRAFTSCOPE_TRY(check_shape(shape, name));
  return shape;
}

}  // namespace draftscope::simulator
