// SPDX-License-Identifier: GPL-3.0-or-later
#include "published_models.h"

#include <draftscope/base/csv_table.h>
#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "config.h"

namespace draftscope::engine {

extern const std::string_view published_models_csv;  // made from models/models.csv by the build

namespace {

constexpr std::string_view file = "models.csv";

struct FamilyRule {
  std::string_view prefix;  ///< of the name in lower case; the first match counts
  std::string_view architecture;
  double theta;
  std::int32_t max_positions;
  double rms_epsilon;
  speculation::RopeKind rope = speculation::RopeKind::standard;
  double factor = 1.0;
  std::int32_t sliding_window = 0;
};

constexpr std::string_view llama = "LlamaForCausalLM";
constexpr std::string_view mistral = "MistralForCausalLM";
constexpr std::string_view qwen2 = "Qwen2ForCausalLM";
constexpr std::array<FamilyRule, 15> rules{{
    {"llama-2-", llama, 1e4, 4096, 1e-5},
    {"llama-3-", llama, 5e5, 8192, 1e-5},
    {"llama-3.1-", llama, 5e5, 131072, 1e-5, speculation::RopeKind::llama3, 8.0},
    {"llama-3.2-", llama, 5e5, 131072, 1e-5, speculation::RopeKind::llama3, 32.0},
    {"codellama-", llama, 1e6, 16384, 1e-5},
    {"yi-", llama, 5e6, 4096, 1e-5},
    {"deepseek-coder-", llama, 1e5, 16384, 1e-6, speculation::RopeKind::linear, 4.0},
    {"tinyllama-", llama, 1e4, 2048, 1e-5},
    {"mistral-7b-v0.1", mistral, 1e4, 32768, 1e-5, speculation::RopeKind::standard, 1.0, 4096},
    {"qwen2.5-0.5b", qwen2, 1e6, 32768, 1e-6},
    {"qwen2.5-1.5b", qwen2, 1e6, 131072, 1e-6},
    {"qwen2.5-7b", qwen2, 1e6, 131072, 1e-6},
    {"qwen2.5-14b", qwen2, 1e6, 131072, 1e-5},
    {"qwen2.5-32b", qwen2, 1e6, 131072, 1e-5},
    {"qwen2.5-72b", qwen2, 1e6, 131072, 1e-5},
}};

// Llama 3.1 and 3.2 share these.
constexpr std::int32_t llama3_original_positions = 8192;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// Levenshtein's, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> distance(b.size() + 1);
  std::iota(distance.begin(), distance.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(distance[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = distance[j + 1];
      distance[j + 1] = std::min({diagonal + 1, distance[j] + 1, substituted});
    }
  }
  return distance.back();
}

std::string closest_names(std::string_view wanted, const std::vector<std::string>& names) {
  constexpr std::size_t listed = 5;
  constexpr std::size_t longest = 64;
  std::vector<std::pair<std::size_t, std::string>> near;
  near.reserve(names.size());
  for (const auto& name : names)
    near.emplace_back(edit_distance(wanted.substr(0, longest), lower_case(name)), name);
  std::sort(near.begin(), near.end());
  std::string closest;
  for (std::size_t i = 0; i < std::min(listed, near.size()); ++i)
    closest += (i == 0 ? "" : ", ") + near[i].second;
  return closest;
}

Result<std::int32_t> read_integer(const CsvTable& table, std::size_t row, std::string_view column) {
  DRAFTSCOPE_TRY_ASSIGN(const auto value, table.integer(row, column));
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max())
    return fail("{}: row {}: column {}: expected an integer from 0", table.name(), row + 1, column);
  return static_cast<std::int32_t>(*value);
}

Result<speculation::ModelShape> read_shape(const CsvTable& table, std::size_t row, const FamilyRule& rule) {
  speculation::ModelShape shape;
  DRAFTSCOPE_TRY_ASSIGN(shape.name, table.text(row, "name"));
  shape.architecture = rule.architecture;
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, read_integer(table, row, "n_layers"));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, read_integer(table, row, "d_model"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, read_integer(table, row, "n_heads"));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads, read_integer(table, row, "n_kv_heads"));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim, read_integer(table, row, "head_dim"));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, read_integer(table, row, "d_ff"));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, read_integer(table, row, "vocab"));
  DRAFTSCOPE_TRY_ASSIGN(const auto tied, read_integer(table, row, "tied_embeddings"));
  DRAFTSCOPE_TRY_ASSIGN(const auto biased, read_integer(table, row, "qkv_bias"));
  shape.tied_embeddings = tied != 0;
  shape.qkv_bias = biased != 0;
  shape.max_positions = rule.max_positions;
  shape.rms_epsilon = rule.rms_epsilon;
  shape.sliding_window = rule.sliding_window;
  shape.rope.kind = rule.rope;
  shape.rope.theta = rule.theta;
  shape.rope.factor = rule.factor;
  if (rule.rope == speculation::RopeKind::llama3)
    shape.rope.original_max_positions = llama3_original_positions;
  shape.bos_token = 0;
  DRAFTSCOPE_TRY(check_shape(shape, fmt::format("{}: {}", file, shape.name)));
  return shape;
}

}  // namespace

Result<speculation::ModelShape> published_shape(std::string_view name) {
  DRAFTSCOPE_TRY_ASSIGN(const auto table, CsvTable::parse(published_models_csv, std::string(file)));
  const auto wanted = lower_case(name);
  std::vector<std::string> names;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(names.emplace_back(), table.text(row, "name"));
    if (lower_case(names.back()) != wanted) continue;
    for (const auto& rule : rules)
      if (wanted.starts_with(rule.prefix)) return read_shape(table, row, rule);
    return fail("synthetic model {}: its architecture is not one of the engine's, expected {}, {} or {}",
                quote(name), llama, mistral, qwen2);
  }
  return fail("synthetic model {} is unknown, expected one of {}; closest: {}", quote(name), file,
              closest_names(wanted, names));
}

}  // namespace draftscope::engine
