// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/model_report.h"

#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace draftscope::cli {

namespace {

namespace fs = std::filesystem;

using speculation::ModelShape;

/// Size of a folder's safetensors files, of a GGUF file, or of all parts of a split one.
std::uintmax_t bytes_of_files(const fs::path& path) {
  constexpr std::string_view first_part = "-00001-of-";
  const bool is_folder = fs::is_directory(path);
  const std::string name = path.filename().string();
  const std::size_t split = name.find(first_part);
  if (!is_folder && split == std::string::npos) return fs::file_size(path);
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(is_folder ? path : path.parent_path())) {
    const std::string other = entry.path().filename().string();
    const bool is_part = !is_folder && other.size() == name.size() &&
                         other.starts_with(name.substr(0, split)) &&
                         other.ends_with(name.substr(split + first_part.size()));
    if ((is_folder && entry.path().extension() == ".safetensors") || is_part) bytes += entry.file_size();
  }
  return bytes;
}

/// Behind the refusal's name of the strategy.
std::string without_name(std::string_view message, std::string_view strategy) {
  const std::string prefix = fmt::format("strategy {}: ", strategy);
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return std::string(message);
}

/// Fills in the draft by the strategy's defaults, and its cost in layers whose weights have `weight_bits`
/// bits.
void describe_draft(const speculation::StrategySpecification& strategy, const ModelShape& shape,
                    double weight_bits, StrategyOnModel& row) {
  speculation::DraftDescription draft;
  if (const speculation::PartRow* mask = strategy.part_row(speculation::PartKind::mask)) {
    if (mask->describe != nullptr) draft = mask->describe(strategy, shape);
  } else if (row.lacks.empty()) {
    draft = speculation::strategy_row(row.name).draft;
  }
  row.draft = std::move(draft.text);
  row.draft_layers = draft.layers;
  if (const auto format = strategy.draft_weights(); format && row.draft_layers) {
    *row.draft_layers *= speculation::weight_format_row(*format).bits / weight_bits;
    row.draft += fmt::format(", in {}", speculation::weight_format_name(*format));
  }
}

StrategyOnModel on_model(const speculation::StrategyRow& strategy, const ModelShape& shape,
                         double weight_bits) {
  StrategyOnModel row{.name = strategy.name};
  const auto specification = speculation::parse_strategy(strategy.name, shape.n_layers);
  if (!specification) {
    row.lacks = without_name(specification.error().message, strategy.name);
    return row;
  }
  row.parameters = specification->json();
  if (const auto made = engine::make_strategy(*specification, shape); !made)
    row.lacks = without_name(made.error().message, strategy.name);
  describe_draft(*specification, shape, weight_bits, row);
  return row;
}

void describe_tokenizer(ModelReport& report) {
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const ModelShape& shape = checkpoint.shape;
  const auto tokenizer = checkpoint.synthetic
                             ? Result<engine::Tokenizer>(engine::Tokenizer::bytes(shape.vocab))
                             : engine::Tokenizer::load(checkpoint.path);
  if (!tokenizer) report.tokenizer_problem = tokenizer.error().message;
  if (tokenizer) report.tokenizer = tokenizer->kind();
  report.has_chat_template = tokenizer && tokenizer->has_chat_template();
  const auto named = [&](std::int32_t token) {
    const bool is_known = tokenizer && token < tokenizer->vocab_size();
    return NamedToken{token, is_known ? tokenizer->text_of(token) : std::string()};
  };
  if (shape.bos_token >= 0) report.bos = named(shape.bos_token);
  for (const std::int32_t token : shape.eos_tokens) report.eos.push_back(named(token));
}

}  // namespace

Result<ModelReport> describe_model(std::string_view argument) {
  ModelReport report;
  DRAFTSCOPE_TRY_ASSIGN(report.checkpoint, engine::open_model(argument, engine::SyntheticMatrices::by_backend,
                                                              engine::BlockMatrices::as_stored));
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const ModelShape& shape = checkpoint.shape;
  if (!checkpoint.synthetic) {
    try {
      report.file_bytes = bytes_of_files(checkpoint.path);
    } catch (const fs::filesystem_error& error) {
      return fail("{}: {}", checkpoint.path.string(), error.code().message());
    }
  }
  // Backends keep K/V in bf16, but that of f32 weights.
  const bool is_f32 = checkpoint.weights.embedding.dtype == engine::DType::f32;
  report.kv_bytes_per_token = 2 * static_cast<std::size_t>(shape.kv_width()) *
                              static_cast<std::size_t>(shape.n_layers) *
                              engine::dtype_bytes(is_f32 ? engine::DType::f32 : engine::DType::bf16);
  report.head_in_layers = speculation::head_in_layers(shape);
  describe_tokenizer(report);
  const double weight_bits = checkpoint.weights.head.weight_bits();
  for (const speculation::StrategyRow& strategy : speculation::strategy_catalogue().strategies())
    report.strategies.push_back(on_model(strategy, shape, weight_bits));
  return report;
}

}  // namespace draftscope::cli
