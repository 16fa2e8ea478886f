// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/output_file.h>
#include <draftscope/traces/exporters.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "options/numbers.h"
#include "options/output_options.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

struct ExportOptions {
  std::string file;
  std::string to;
  std::optional<std::string> output;  ///< Path of the output; none = beside the trace.
  bool overwrite = false;
  bool quiet = false;
};

struct Format {
  std::string_view name;
  std::string_view suffix;  ///< Suffix of the default target, after the trace's stem.
  bool is_folder;           ///< Several files.
  Result<void> (*write)(traces::Reader&, const std::filesystem::path&, const traces::Progress&);
};

constexpr std::array<Format, 3> formats{{{"perfetto", ".pftrace", false, traces::export_perfetto},
                                         {"spec-bench", "-spec-bench", true, traces::export_spec_bench},
                                         {"jsonl", ".jsonl", false, traces::export_rounds}}};

const Format& export_format_named(std::string_view name) {
  std::size_t i = 0;
  while (formats[i].name != name) ++i;  // CLI11 has checked the name.
  return formats[i];
}

std::filesystem::path default_target(std::filesystem::path trace, const Format& format) {
  trace.replace_extension();
  trace += format.suffix;
  return trace;
}

Result<int> export_trace(const ExportOptions& options) {
  const Format& format = export_format_named(options.to);
  const std::filesystem::path target = options.output.value_or(default_target(options.file, format));
  const std::array<std::filesystem::path, 1> inputs{options.file};
  const OutputRules rules{inputs, options.overwrite};
  DRAFTSCOPE_TRY(format.is_folder ? check_output_folder(target, rules) : check_output_file(target, rules));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
  const std::string printed = target.string() + '\n';
  DRAFTSCOPE_TRY_ASSIGN(const int code,
                        run_interruptible(fmt::format("exporting to {}", format.name), options.quiet,
                                          [&](const traces::Progress& progress) {
                                            return format.write(reader, target, progress);
                                          }));
  return code != 0 || options.quiet ? code : print_out(printed);
}

}  // namespace

void add_export_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a trace in another tool's format");
  command->footer(
      "perfetto    TrackEvent protobuf, for ui.perfetto.dev and trace_processor\n"
      "spec-bench  a folder with one Spec-Bench answer file a run\n"
      "jsonl       a line a request and a round, which import reads again: docs/rounds-format.md\n"
      "Prints the path it wrote.\n"
      "Example: draftscope export demo.dstrace --to perfetto -o demo.pftrace");
  command->add_option("FILE", options->file, "Trace to read")->required();
  command->add_option("--to,--format", options->to, "Format")
      ->required()
      ->check(one_of({"perfetto", "spec-bench", "jsonl"}));
  add_optional_output(*command, "-o,--output", options->output,
                      "File or folder to write; beside the trace if not given");
  command->add_flag("--overwrite", options->overwrite, "Replace what is there");
  command->add_flag("-q,--quiet", options->quiet, "No progress, and don't print the path");
  command->callback([options, &outcome] { finish(outcome, export_trace(*options)); });
}

}  // namespace draftscope::cli
