// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/published_models.h>

#include <draftscope/base/ascii.h>
#include <draftscope/base/closest_names.h>
#include <draftscope/base/csv_table.h>
#include <draftscope/speculation/model_families.h>
#include <array>
#include <limits>

namespace draftscope::speculation {

extern const std::string_view published_models_csv;  // The build generates it from models/models.csv.

namespace {

constexpr std::string_view file = "models.csv";

/// Facts that the models of a series share and the table lacks.
struct Series {
  std::string_view prefix;  ///< Beginning of the name in lower case; the first match counts.
  std::string_view model_type;
  double theta;
  std::int32_t max_positions;
  double rms_epsilon;
  RopeKind rope = RopeKind::standard;
  double factor = 1.0;
  std::int32_t sliding_window = 0;
  std::int32_t rotated_dimensions = 0;
  const ArchitectureTraits* traits = nullptr;  ///< Traits that differ from the family's; null = none.
};

constexpr ArchitectureTraits granite_3{.attention_multiplier = 1.0 / 128.0,
                                       .embedding_multiplier = 12.0,
                                       .residual_multiplier = 0.22,
                                       .logit_multiplier = 1.0 / 16.0};

constexpr std::array<Series, 26> series{{
    {"llama-2-", "llama", 1e4, 4096, 1e-5},
    {"llama-3-", "llama", 5e5, 8192, 1e-5},
    {"llama-3.1-", "llama", 5e5, 131072, 1e-5, RopeKind::llama3, 8.0},
    {"llama-3.2-", "llama", 5e5, 131072, 1e-5, RopeKind::llama3, 32.0},
    {"codellama-", "llama", 1e6, 16384, 1e-5},
    {"yi-", "llama", 5e6, 4096, 1e-5},
    {"deepseek-coder-", "llama", 1e5, 16384, 1e-6, RopeKind::linear, 4.0},
    {"tinyllama-", "llama", 1e4, 2048, 1e-5},
    {"mistral-7b-v0.1", "mistral", 1e4, 32768, 1e-5, RopeKind::standard, 1.0, 4096},
    {"qwen2.5-0.5b", "qwen2", 1e6, 32768, 1e-6},
    {"qwen2.5-1.5b", "qwen2", 1e6, 131072, 1e-6},
    {"qwen2.5-7b", "qwen2", 1e6, 131072, 1e-6},
    {"qwen2.5-14b", "qwen2", 1e6, 131072, 1e-5},
    {"qwen2.5-32b", "qwen2", 1e6, 131072, 1e-5},
    {"qwen2.5-72b", "qwen2", 1e6, 131072, 1e-5},
    {"qwen3-", "qwen3", 1e6, 40960, 1e-6},
    {"apertus-8b", "apertus", 12e6, 65536, 1e-5, RopeKind::llama3, 8.0},
    {"smollm2-135m", "llama", 1e5, 8192, 1e-5},
    {"smollm3-", "smollm3", 5e6, 65536, 1e-6},
    {"granite-3.3-", "granite", 1e7, 131072, 1e-5, RopeKind::standard, 1.0, 0, 0, &granite_3},
    {"olmo-2-", "olmo2", 5e5, 4096, 1e-6},
    {"phi-3-mini-4k", "phi3", 1e4, 4096, 1e-5, RopeKind::standard, 1.0, 2047},
    {"phi-4-mini", "phi3", 1e4, 4096, 1e-5, RopeKind::standard, 1.0, 0, 96},
    {"gemma-2-", "gemma2", 1e4, 8192, 1e-6, RopeKind::standard, 1.0, 4096},
    {"gemma-3-1b", "gemma3_text", 1e6, 32768, 1e-6, RopeKind::standard, 1.0, 512},
    {"gemma-3-4b", "gemma3_text", 1e6, 131072, 1e-6, RopeKind::linear, 8.0, 1024},
}};

// Llama 3.1 and 3.2 and Apertus share this value.
constexpr std::int32_t llama3_original_positions = 8192;

void add_series(ModelShape& shape) {
  const std::string name = in_lower_case(shape.name);
  for (const Series& of : series) {
    if (!name.starts_with(of.prefix)) continue;
    const ModelFamily* const family = find_model_type(of.model_type);
    shape.architecture = family->architecture;
    shape.traits = of.traits != nullptr ? *of.traits : family->traits;
    shape.max_positions = of.max_positions;
    shape.rms_epsilon = of.rms_epsilon;
    shape.sliding_window = of.sliding_window;
    shape.rope.kind = of.rope;
    shape.rope.theta = of.theta;
    shape.rope.factor = of.factor;
    shape.rope.local_theta = family->local_theta;
    shape.rope.rotated_dimensions = of.rotated_dimensions;
    if (of.rope == RopeKind::llama3) shape.rope.original_max_positions = llama3_original_positions;
    return;
  }
}

Result<std::int32_t> read_integer(const CsvTable& table, std::size_t row, std::string_view column) {
  DRAFTSCOPE_TRY_ASSIGN(const auto value, table.integer(row, column));
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max())
    return fail("{}: row {}: column {}: expected an integer from 0", table.name(), row + 1, column);
  return static_cast<std::int32_t>(*value);
}

Result<ModelShape> read_row(const CsvTable& table, std::size_t row) {
  ModelShape shape;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, table.text(row, "name"));
  for (const auto& [column, member] : shape_sizes) {
    DRAFTSCOPE_TRY_ASSIGN(shape.*member, read_integer(table, row, column));
  }
  DRAFTSCOPE_TRY(check_sizes(shape, fmt::format("{}: {}", file, shape.name)));
  DRAFTSCOPE_TRY_ASSIGN(const auto tied, read_integer(table, row, "tied_embeddings"));
  DRAFTSCOPE_TRY_ASSIGN(const auto biased, read_integer(table, row, "qkv_bias"));
  shape.tied_embeddings = tied != 0;
  shape.qkv_bias = biased != 0;
  shape.bos_token = 0;
  add_series(shape);
  return shape;
}

Result<CsvTable> read_table() {
  return CsvTable::parse(published_models_csv, std::string(file));
}

}  // namespace

Result<std::vector<ModelShape>> known_model_shapes() {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, read_table());
  std::vector<ModelShape> shapes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, read_row(table, row));
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<std::optional<ModelShape>> published_model(std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, read_table());
  const std::string wanted = comparable_name(name);
  if (wanted.empty()) return std::nullopt;  // a row may lack an id
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string known, table.text(row, "name"));
    DRAFTSCOPE_TRY_ASSIGN(const std::string hf_id, table.text(row, "hf_id"));
    if (comparable_name(known) != wanted && comparable_name(hf_id) != wanted) continue;
    DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, read_row(table, row));
    return shape;
  }
  return std::nullopt;
}

Result<ModelShape> find_model_shape(std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(auto found, published_model(name));
  if (found) return *std::move(found);
  DRAFTSCOPE_TRY_ASSIGN(const std::string closest, closest_models(name));
  return fail("model '{}' is unknown, expected a config.json or one of {}, as {}", name, file, closest);
}

Result<std::string> closest_models(std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, read_table());
  std::vector<std::string> names;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(names.emplace_back(), table.text(row, "name"));
  }
  return closest_names(name, names);
}

}  // namespace draftscope::speculation
