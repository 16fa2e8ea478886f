// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/model_report.h"

#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/opening_notes.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape_json.h>

#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

namespace fs = std::filesystem;

using speculation::ModelShape;

/// Total of a folder's safetensors files, of a GGUF file, or of all parts of a split one.
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

/// Message of a refusal without the strategy's name at its beginning.
std::string without_name(std::string_view message, std::string_view strategy) {
  const std::string prefix = fmt::format("strategy {}: ", strategy);
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return std::string(message);
}

/// Fills in the draft for the strategy's defaults, and its cost in layers with weights of `weight_bits` bits.
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

StrategyOnModel on_model(const speculation::StrategyRow& strategy, const engine::Checkpoint& checkpoint,
                         double weight_bits) {
  const ModelShape& shape = checkpoint.shape;
  StrategyOnModel row{.name = strategy.name};
  const auto specification = speculation::parse_strategy(strategy.name, shape.n_layers);
  if (!specification) {
    row.lacks = without_name(specification.error().message, strategy.name);
    return row;
  }
  row.parameters = specification->json();
  // Nothing decodes with the layer here.
  engine::StrategyResources resources;
  if (checkpoint.has_next_token_layer)
    resources.open_next_token_layer = [] { return Result<engine::OpenedDraftModel>(); };
  if (const auto made = engine::make_strategy(*specification, shape, resources); !made)
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
  if (report.has_chat_template)
    report.chat_template_problem = tokenizer->chat_template_problem().value_or("");
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
  DRAFTSCOPE_TRY_ASSIGN(report.checkpoint,
                        engine::open_model(argument, engine::SyntheticMatrices::by_backend,
                                           engine::BlockMatrices::as_stored, report.notes));
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const ModelShape& shape = checkpoint.shape;
  if (!checkpoint.synthetic) {
    try {
      report.file_bytes = bytes_of_files(checkpoint.path);
    } catch (const fs::filesystem_error& error) {
      return fail("{}: {}", checkpoint.path.string(), error.code().message());
    }
  }
  // Backends store K/V in bf16, except for f32 weights.
  const bool is_f32 = checkpoint.weights.embedding.dtype == engine::DType::f32;
  report.kv_bytes_per_token = 2 * static_cast<std::size_t>(shape.kv_width()) *
                              static_cast<std::size_t>(shape.n_layers) *
                              engine::dtype_bytes(is_f32 ? engine::DType::f32 : engine::DType::bf16);
  report.head_in_layers = speculation::head_in_layers(shape);
  describe_tokenizer(report);
  const double weight_bits = checkpoint.weights.layers.front().q.weight_bits();
  for (const speculation::StrategyRow& strategy : speculation::strategy_catalogue().strategies())
    report.strategies.push_back(on_model(strategy, checkpoint, weight_bits));
  return report;
}

namespace {

/// Max cells of the text beside a label; a longer one ends in "...".
constexpr std::size_t max_text_cells = 84;
constexpr std::size_t max_parameter_cells = 34;

std::string cut(const std::string& text, std::size_t cells) {
  if (display_width(text) <= cells) return text;
  std::string kept = text;
  while (!kept.empty() && display_width(kept) + 3 > cells) {
    while (!kept.empty() && (static_cast<unsigned char>(kept.back()) & 0xC0U) == 0x80U) kept.pop_back();
    if (!kept.empty()) kept.pop_back();
  }
  return kept + "...";
}

std::string token_text(const NamedToken& token) {
  return token.text.empty() ? std::to_string(token.id)
                            : fmt::format("{} \"{}\"", token.id, printable(token.text));
}

std::string tokens_text(const std::vector<NamedToken>& tokens) {
  std::string text;
  for (const NamedToken& token : tokens) text += (text.empty() ? "" : ", ") + token_text(token);
  return text.empty() ? "none" : text;
}

std::string shape_line(const speculation::ModelShape& shape) {
  return fmt::format("{} layers of width {}, {} heads of {} ({} of keys and values), MLP {}{}",
                     shape.n_layers, shape.d_model, shape.n_heads, shape.head_dim, shape.n_kv_heads,
                     shape.d_ff, shape.tied_embeddings ? ", tied" : "");
}

std::string stored_line(const ModelReport& report) {
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const std::string form = checkpoint.has_blocks()
                               ? "in the same blocks"
                               : fmt::format("as {}", engine::dtype_name(checkpoint.weights.embedding.dtype));
  const std::string held =
      fmt::format("{} in memory {}", bytes_text(static_cast<double>(checkpoint.weight_bytes())), form);
  if (checkpoint.synthetic) return "nowhere: synthetic weights; " + held;
  return fmt::format("{} as {}; {}", bytes_text(static_cast<double>(report.file_bytes)),
                     printable(checkpoint.stored_as), held);
}

std::string context_line(const speculation::ModelShape& shape) {
  std::string line = count(shape.max_positions) + " tokens";
  if (shape.sliding_window > 0)
    line += fmt::format("; {} see the latest {} alone",
                        shape.traits.full_attention_interval > 0 ? "some layers" : "layers",
                        count(shape.sliding_window));
  return line;
}

/// Parameters like "exit=7, gamma=6": numbers and words that are set, as many as fit.
std::string parameters_text(const std::string& json) {
  if (json.empty()) return "";
  std::string text;
  const auto parameters = nlohmann::ordered_json::parse(json);
  for (const auto& [name, value] : parameters.items()) {
    if (value.is_string() && value.get<std::string>().empty()) continue;
    const std::string item = (text.empty() ? "" : ",") + name + '=' +
                             (value.is_string() ? value.get<std::string>() : value.dump());
    if (display_width(text) + display_width(item) + 4 > max_parameter_cells) return text + ",...";
    text += item;
  }
  return text;
}

std::string strategies_table(const ModelReport& report) {
  Table table({"strategy", "defaults here"}, {"draft step"}, {"what drafts, or what it lacks"});
  for (const StrategyOnModel& strategy : report.strategies) {
    const std::string& lacks = strategy.lacks;
    table.add_row({strategy.name, lacks.empty() ? parameters_text(strategy.parameters) : "",
                   strategy.draft_layers && lacks.empty() ? number(*strategy.draft_layers) : "",
                   lacks.empty() ? strategy.draft : cut(printable(lacks.substr(0, lacks.find(", "))), 32)});
  }
  return table.text(2);
}

}  // namespace

std::string model_text(const ModelReport& report) {
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const speculation::ModelShape& shape = checkpoint.shape;
  std::string text = cut(printable(shape.name), max_text_cells) + '\n';
  const auto add = [&text](std::string_view label, const std::string& line) {
    text += fmt::format("  {:<10} {}\n", label, cut(line, max_text_cells));
  };
  add("family", printable(shape.architecture.empty() ? "not known" : shape.architecture));
  add("shape", shape_line(shape));
  add("parameters", count(static_cast<std::int64_t>(checkpoint.parameters())));
  add("stored", stored_line(report));
  add("a step", fmt::format("reads {} of weights, and {} of K/V for each token of context",
                            bytes_text(static_cast<double>(checkpoint.bytes_per_step())),
                            bytes_text(static_cast<double>(report.kv_bytes_per_token))));
  add("context", context_line(shape));
  add("vocabulary", count(shape.vocab) + " tokens");
  // A reason is of no use without its end.
  const auto add_whole = [&text](std::string_view label, const std::string& line) {
    text += fmt::format("  {:<10} {}\n", label, line);
  };
  if (report.tokenizer.empty())
    add_whole("tokenizer", printable(report.tokenizer_problem));
  else
    add("tokenizer", report.tokenizer);
  add("BOS", report.bos ? token_text(*report.bos) : "none");
  add("EOS", tokens_text(report.eos));
  add_whole("chat",
            !report.has_chat_template ? "no chat template: it goes on with a text"
            : report.chat_template_problem.empty()
                ? "has a chat template: --chat puts prompts into it"
                : "has a chat template that cannot be rendered: " + printable(report.chat_template_problem));
  text += fmt::format("\nA vanilla step is {} layers and the head, which weighs as much as {} layers.\n",
                      shape.n_layers, number(report.head_in_layers));
  return text + strategies_table(report);
}

namespace {

Json token_json(const NamedToken& token) {
  return {{"id", token.id}, {"text", token.text}};
}

template <typename T>
Json text_or_null(const T& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json strategy_json(const StrategyOnModel& strategy) {
  Json json{{"name", strategy.name}};
  json["parameters"] = strategy.parameters.empty() ? Json(nullptr) : Json::parse(strategy.parameters);
  json["draft"] = text_or_null(strategy.draft);
  json["draft_layers"] = json_or_null(strategy.draft_layers);
  json["lacks"] = text_or_null(strategy.lacks);
  return json;
}

/// Adds the GPUs of this machine, which may decode the model.
void add_gpus(Json& json) {
  const auto names = engine::cuda_device_names();
  json["gpus"] = Json::array();
  for (std::size_t i = 0; names && i < names->size(); ++i)
    json["gpus"].push_back({{"device", fmt::format("cuda:{}", i)}, {"name", (*names)[i]}});
  json["gpus_problem"] = names ? Json(nullptr) : Json(names.error().message);
}

}  // namespace

std::string model_json(const ModelReport& report) {
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const speculation::ModelShape& shape = checkpoint.shape;
  Json json = new_document();
  json["model"] = shape.name;
  json["path"] = text_or_null(checkpoint.path.string());
  json["synthetic"] = checkpoint.synthetic;
  json["checkpoint_hash"] = checkpoint.hash;
  json["model_shape"] = Json::parse(speculation::recorded_shape_json(shape));
  json["parameters"] = checkpoint.parameters();
  json["stored_as"] = text_or_null(checkpoint.stored_as);
  json["file_bytes"] = checkpoint.synthetic ? Json(nullptr) : Json(report.file_bytes);
  json["dtype"] = engine::dtype_name(checkpoint.weights.embedding.dtype);
  json["weight_bytes"] = checkpoint.weight_bytes();
  json["bytes_per_step"] = checkpoint.bytes_per_step();
  json["kv_bytes_per_token"] = report.kv_bytes_per_token;
  json["context_tokens"] = shape.max_positions;
  json["tokenizer"] = text_or_null(report.tokenizer);
  json["tokenizer_problem"] = text_or_null(report.tokenizer_problem);
  json["bos"] = report.bos ? token_json(*report.bos) : Json(nullptr);
  json["eos"] = json_list(report.eos, token_json);
  json["chat_template"] = report.has_chat_template;
  json["chat_template_problem"] = text_or_null(report.chat_template_problem);
  json["head_in_layers"] = report.head_in_layers;
  json["strategies"] = json_list(report.strategies, strategy_json);
  add_gpus(json);
  return json_text(json);
}

}  // namespace draftscope::cli
