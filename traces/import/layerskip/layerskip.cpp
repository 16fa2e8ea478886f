// SPDX-License-Identifier: GPL-3.0-or-later
// Imports the output of LayerSkip's and DEL's benchmark.py: a sequence of JSON objects (arguments, benchmark
// arguments, generation config, metrics), or the CSV of a sweep. Both have figures of whole runs and no
// rounds.
#include <draftscope/base/csv_table.h>
#include <draftscope/base/text_file.h>

#include <array>
#include <nlohmann/json.hpp>

#include "foreign/json_fields.h"
#include "import/stated_sums.h"

namespace draftscope::traces {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{64} << 20U;
constexpr std::int64_t max_layers = 4096;

std::string layerskip_specification(std::optional<std::int64_t> exit_layer,
                                    std::optional<std::int64_t> speculations) {
  std::string text = "layerskip";
  if (exit_layer && *exit_layer > 0) text += fmt::format(":exit={}", *exit_layer);
  if (speculations && *speculations > 0)
    text += fmt::format("{}gamma={}", text.find(':') == std::string::npos ? ":" : ",", *speculations);
  return text;
}

Result<void> import_benchmark(std::string_view text, const std::filesystem::path& file,
                              ImportContext& context) {
  constexpr std::array metrics{"acceptance_rate", "total_time", "time_per_token", "tokens_per_second",
                               "tokens_per_layer"};
  const std::string name = file.string();
  nlohmann::json all = nlohmann::json::object();
  DRAFTSCOPE_TRY(
      take_json_objects(text, name, [&](const nlohmann::json& object, std::int64_t, const std::string&) {
        for (const auto& [key, value] : object.items())  // A later object's field wins, unless it is null.
          if (!value.is_null() || !all.contains(key)) all[key] = value;
        return Result<void>{};
      }));
  const JsonFields fields(all, name);
  DRAFTSCOPE_TRY_ASSIGN(const auto model, fields.text("model"));
  DRAFTSCOPE_TRY_ASSIGN(const auto strategy, fields.text("generation_strategy"));
  DRAFTSCOPE_TRY_ASSIGN(const auto exit_layer, fields.integer("exit_layer", -1, max_layers));
  DRAFTSCOPE_TRY_ASSIGN(const auto speculations, fields.integer("num_speculations", -1, max_draft_tokens));
  nlohmann::json stated = nlohmann::json::object();
  bool has_metrics = false;
  for (const char* const metric : metrics) {
    const nlohmann::json* const value = fields.find(metric);
    has_metrics = has_metrics || all.contains(metric);
    if (value == nullptr || (value->is_object() && value->contains("mean") && (*value)["mean"].is_null()))
      continue;  // NaN: the figure is missing
    if (!value->is_object() || !value->contains("mean") || !(*value)["mean"].is_number())
      return unexpected_json(*value, name, metric, "an object with a number as mean");
    stated[metric] = (*value)["mean"];
  }
  if (!has_metrics)
    return fail(
        "{}: has no metrics, expected at least one of acceptance_rate, total_time, time_per_token, "
        "tokens_per_second",
        name);
  if (const nlohmann::json* const quality = fields.find("predicted_text"))
    stated["predicted_text"] = *quality;
  std::string specification = layerskip_specification(exit_layer, speculations);
  if (strategy == "autoregressive")
    specification = "vanilla";
  else if (strategy && *strategy != "self_speculative")
    specification = *strategy;
  if (!context.options.specification.empty() && !context.is_baseline)
    specification = context.options.specification;
  DRAFTSCOPE_TRY(take_run(file, {specification, 0}, context));
  // Every field that is no metric is a parameter.
  nlohmann::json parameters = all;
  for (const char* const metric : metrics) parameters.erase(metric);
  parameters.erase("predicted_text");
  if (context.model.empty() && model) context.model = *model;
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  context.answers.run(specification, context.is_baseline, parameters.dump(-1, ' ', false, replace));
  context.stated_figures[specification] = stated.dump(-1, ' ', false, replace);
  return {};
}

Result<void> import_sweep(std::string_view text, const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY_ASSIGN(const CsvTable table, CsvTable::parse(text, file.string()));
  if (!context.options.specification.empty())
    return fail("{}: is a sweep with a run a row, expected no specification for all of them", file.string());
  for (const char* const column : {"exit_layer", "num_speculations"})
    if (!table.has(column))
      return fail("{}: the column {} is missing, expected a sweep's CSV", file.string(), column);
  if (table.rows() == 0) return fail("{}: has no rows, expected one a setting", file.string());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    DRAFTSCOPE_TRY_ASSIGN(const auto exit_layer, table.integer(row, "exit_layer"));
    DRAFTSCOPE_TRY_ASSIGN(const auto speculations, table.integer(row, "num_speculations"));
    const std::string specification = layerskip_specification(exit_layer, speculations);
    nlohmann::json stated = nlohmann::json::object();
    for (const char* const column :
         {"acceptance_rate", "total_time", "time_per_token", "tokens_per_second"}) {
      if (!table.has(column)) continue;
      DRAFTSCOPE_TRY_ASSIGN(const std::string cell, table.text(row, column));
      if (cell == "nan" || cell == "NaN") continue;
      DRAFTSCOPE_TRY_ASSIGN(const auto number, table.number(row, column));
      if (number) stated[column] = *number;
    }
    const nlohmann::json parameters{{"exit_layer", exit_layer.value_or(-1)},
                                    {"num_speculations", speculations.value_or(-1)}};
    DRAFTSCOPE_TRY(take_run(fmt::format("{}: row {}", file.string(), row + 1), {specification, 0}, context));
    context.answers.run(specification, context.is_baseline, parameters.dump());
    context.stated_figures[specification] = stated.dump();
  }
  return {};
}

Result<void> import_layerskip(const std::filesystem::path& file, ImportContext& context) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string whole, read_text_file(file, max_file_bytes));
  DRAFTSCOPE_TRY(context.progress.update(static_cast<std::int64_t>(whole.size())));
  const std::string_view text = without_byte_order_mark(whole);
  note_no_requests(context);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return import_benchmark(text, file, context);
  return import_sweep(text, file, context);
}

int layerskip_sureness(const FileHead& head) {
  if (head.is_object())
    return head.has_any_key({"acceptance_rate", "generation_strategy", "tokens_per_second"}) ? 20 : 0;
  return head.text().substr(0, head.text().find('\n')).find("num_speculations") != std::string_view::npos ? 9
                                                                                                          : 0;
}

}  // namespace

FormatRow format_of_layerskip() {
  return {"layerskip", "benchmark JSON or sweep CSV of LayerSkip and DEL: figures without rounds",
          import_layerskip, layerskip_sureness};
}

}  // namespace draftscope::traces
