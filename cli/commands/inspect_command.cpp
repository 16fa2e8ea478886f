// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "report/report_json_parts.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

struct InspectOptions {
  std::string file;
  bool validate = false;
  bool json = false;
};

struct Inspection {
  std::string path;
  int schema_version = 0;
  bool closed_cleanly = false;
  traces::Meta meta;
  std::vector<traces::TableCount> tables;
  std::optional<std::vector<traces::Violation>> violations;  ///< absent if not asked for
};

Result<Inspection> inspect(const InspectOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
  Inspection inspection;
  inspection.path = options.file;
  inspection.schema_version = reader.schema_version();
  DRAFTSCOPE_TRY_ASSIGN(inspection.tables, reader.row_counts());
  if (options.validate) {
    // Before the rows are read, which a broken one would end with an error of its own.
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
  for (const auto& [table, rows] : simulator::dropped_rows(inspection.meta))
    text += fmt::format("  dropped    {} {}\n", count(rows), table);
  if (inspection.violations)
    for (const traces::Violation& violation : *inspection.violations)
      text += fmt::format("  violation  {} row {}: {}\n", printable(violation.table), violation.row,
                          printable(violation.rule));
  Table tables({{"table", Align::left}, {"rows"}});
  for (const traces::TableCount& table : inspection.tables) tables.add_row({table.table, count(table.rows)});
  text += '\n' + tables.text(2);
  if (inspection.meta.empty()) return text;
  Table meta({{"meta", Align::left}, {"", Align::left}});
  for (const auto& [key, value] : inspection.meta) meta.add_row({printable(key), printable(value)});
  return text + '\n' + meta.text(2);
}

std::string json_of(const Inspection& inspection) {
  Json json = new_document();
  json["path"] = inspection.path;
  json["schema_version"] = inspection.schema_version;
  json["closed_cleanly"] = inspection.closed_cleanly;
  json["violations"] = nullptr;
  if (inspection.violations) {
    json["violations"] = Json::array();
    for (const traces::Violation& violation : *inspection.violations)
      json["violations"].push_back(
          {{"table", violation.table}, {"row", violation.row}, {"rule", violation.rule}});
  }
  json["dropped_rows"] = simulator::dropped_rows(inspection.meta);
  Json& rows = json["rows"] = Json::object();
  for (const traces::TableCount& table : inspection.tables) rows[table.table] = table.rows;
  json["meta"] = inspection.meta;
  return json_text(json);
}

Result<int> inspect_and_print(const InspectOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(const Inspection inspection, inspect(options));
  const int written = print_out(options.json ? json_of(inspection) : text_of(inspection));
  if (written != 0) return written;
  return inspection.violations && !inspection.violations->empty() ? exit_failure : 0;
}

}  // namespace

void add_inspect_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a trace holds and whether it is sound");
  command->footer(
      "Ends with exit code 1 if --validate finds a broken rule.\n"
      "Keys of --json: cli/OUTPUT.md.\n"
      "Example: draftscope inspect demo.dstrace --validate");
  command->add_option("FILE", options->file, "Trace to read")->required();
  command->add_flag("--validate", options->validate,
                    "Check every rule of the schema and the file's integrity");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &outcome] { finish(outcome, inspect_and_print(*options)); });
}

}  // namespace draftscope::cli
