// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/traces/merge.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "report/model_report.h"
#include "report/report_json.h"
#include "terminal/messages.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

struct InspectOptions {
  std::string file;
  bool validate = false;
  bool json = false;
};

/// Whether the path is a model, judged by its content, since names are unreliable. Fails on a file or a
/// folder that is neither a model nor a trace. The reader of traces rejects missing paths and special files.
Result<bool> is_model(const std::string& name) {
  constexpr std::string_view synthetic = "synthetic:";
  constexpr std::string_view gguf = "GGUF";
  constexpr std::string_view sqlite = "SQLite format 3";
  if (name.starts_with(synthetic)) return true;
  std::error_code ignored;
  const std::filesystem::path path(name);
  if (std::filesystem::is_directory(path, ignored)) {
    if (std::filesystem::exists(path / "config.json", ignored)) return true;
    return fail("{}: found a folder without config.json, expected a model's folder or a regular file", name);
  }
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::array<char, sqlite.size()> begin{};
  file.read(begin.data(), begin.size());
  const std::string_view found(begin.data(), static_cast<std::size_t>(file.gcount()));
  if (found.empty()) return fail("{}: found an empty file, expected a trace or a model", name);
  if (found.starts_with(gguf)) return true;
  if (found == sqlite) return false;
  return fail("{}: found neither a trace (SQLite) nor a model (GGUF), expected one of them", name);
}

struct Inspection {
  std::string path;
  int schema_version = 0;
  bool closed_cleanly = false;
  traces::Meta meta;
  std::vector<traces::TableCount> tables;
  std::optional<std::vector<traces::Violation>> violations;  ///< Absent if not requested.
};

Result<Inspection> inspect(const InspectOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
  Inspection inspection;
  inspection.path = options.file;
  inspection.schema_version = reader.schema_version();
  DRAFTSCOPE_TRY_ASSIGN(inspection.tables, reader.row_counts());
  if (options.validate) {
    // Validate before rows are read, since a broken row would end the reading with another error.
    DRAFTSCOPE_TRY_ASSIGN(inspection.violations, reader.validate());
    if (!inspection.violations->empty()) return inspection;
  }
  DRAFTSCOPE_TRY_ASSIGN(traces::Recording recording, reader.recording());
  inspection.closed_cleanly = recording.closed_cleanly;
  inspection.meta = std::move(recording.meta);
  return inspection;
}

std::string integrity_line(const Inspection& inspection) {
  if (!inspection.violations) return "not checked (--validate checks it)";
  if (inspection.violations->empty()) return "every rule holds";
  return fmt::format("{} violations", inspection.violations->size());
}

std::string text_of(const Inspection& inspection) {
  std::string text =
      fmt::format("{}\n  schema     {}\n", printable(inspection.path), inspection.schema_version);
  const bool has_recording = !inspection.violations || inspection.violations->empty();
  if (has_recording) text += fmt::format("  closed     {}\n", inspection.closed_cleanly ? "cleanly" : "no");
  text += fmt::format("  integrity  {}\n", integrity_line(inspection));
  if (const std::string note = traces::missing_shards_note(inspection.meta); !note.empty())
    text += fmt::format("  shards     {}\n", note);
  for (const auto& [table, rows] : simulator::dropped_rows(inspection.meta))
    text += fmt::format("  dropped    {} {}\n", count(rows), table);
  if (inspection.violations)
    for (const traces::Violation& violation : *inspection.violations)
      text += fmt::format("  violation  {} row {}: {}\n", printable(violation.table), violation.row,
                          printable(violation.rule));
  Table tables({"table"}, {"rows"});
  for (const traces::TableCount& table : inspection.tables) tables.add_row({table.table, count(table.rows)});
  text += '\n' + tables.text(2);
  if (inspection.meta.empty()) return text;
  Table meta({"meta", ""}, {});
  for (const auto& [key, value] : inspection.meta) meta.add_row({printable(key), printable(value)});
  return text + '\n' + meta.text(2);
}

std::string json_of(const Inspection& inspection) {
  Json json = new_document();
  json["path"] = inspection.path;
  json["schema_version"] = inspection.schema_version;
  json["closed_cleanly"] = inspection.closed_cleanly;
  json["violations"] = nullptr;
  if (inspection.violations)
    json["violations"] = json_list(*inspection.violations, [](const traces::Violation& violation) -> Json {
      return {{"table", violation.table}, {"row", violation.row}, {"rule", violation.rule}};
    });
  json["dropped_rows"] = simulator::dropped_rows(inspection.meta);
  const std::string shards = traces::missing_shards_note(inspection.meta);
  json["missing_shards"] = shards.empty() ? Json(nullptr) : Json(shards);
  Json& rows = json["rows"] = Json::object();
  for (const traces::TableCount& table : inspection.tables) rows[table.table] = table.rows;
  json["meta"] = inspection.meta;
  return json_text(json);
}

Result<int> inspect_model(const InspectOptions& options) {
  if (options.validate)
    return fail(
        "validate: given for a model, expected it for a trace (generate --check-weights reads weights)");
  DRAFTSCOPE_TRY_ASSIGN(const ModelReport report, describe_model(options.file));
  for (const std::string& note : report.notes) print_note(fmt::format("{}: {}", options.file, note));
  return print_out(options.json ? model_json(report) : model_text(report));
}

Result<int> inspect_and_print(const InspectOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(const bool model, is_model(options.file));
  if (model) return inspect_model(options);
  DRAFTSCOPE_TRY_ASSIGN(const Inspection inspection, inspect(options));
  const int written = print_out(options.json ? json_of(inspection) : text_of(inspection));
  if (written != 0) return written;
  return inspection.violations && !inspection.violations->empty() ? exit_failure : 0;
}

}  // namespace

void add_inspect_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model or a trace is");
  command->footer(
      "Ends with exit code 1 if --validate finds a broken rule.\n"
      "Keys of --json: cli/OUTPUT.md.\n"
      "Examples: draftscope inspect models/demo-layerskip\n"
      "          draftscope inspect demo.dstrace --validate");
  command
      ->add_option("FILE", options->file,
                   "Trace, model folder, GGUF file, or synthetic:NAME[,redundancy=R,…]")
      ->required();
  command->add_flag("--validate", options->validate,
                    "Of a trace: check every rule of the schema and the file's integrity");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &outcome] { finish(outcome, inspect_and_print(*options)); });
}

}  // namespace draftscope::cli
