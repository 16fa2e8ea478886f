// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/import.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "options/numbers.h"
#include "options/output_options.h"
#include "terminal/progress_bar.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string from = "auto";
  std::string output;
  std::string baseline;
  std::vector<std::filesystem::path> inputs;  ///< Paths that the command line names.
  traces::ImportOptions import;
  bool quiet = false;
};

std::string summary_text(const std::string& target, const traces::ImportSummary& summary) {
  std::string text = fmt::format("{}\n", target);
  text += fmt::format("{} runs, {} requests, {} rounds, {} spans, {} device activities\n", summary.runs,
                      summary.requests, summary.rounds, summary.spans, summary.kernels);
  std::string lacks;
  for (const traces::MissingData missing : summary.missing)
    lacks += (lacks.empty() ? "" : ", ") + std::string(traces::missing_data_name(missing));
  if (!lacks.empty()) text += fmt::format("not in the source: {}\n", lacks);
  for (const std::string& remark : summary.remarks) text += printable(remark) + '\n';
  return text;
}

Result<int> import_files(const ImportOptions& options) {
  DRAFTSCOPE_TRY(traces::check_trace_target(options.output, {options.inputs, options.import.overwrite}));
  traces::ImportOptions import = options.import;
  if (options.from != "auto") import.format = options.from;
  import.baseline = options.baseline;
  const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
  std::string printed;
  const auto note_summary = [&](const traces::ImportSummary& summary) {
    printed = summary_text(options.output, summary);
  };
  DRAFTSCOPE_TRY_ASSIGN(
      const int code, run_interruptible("importing", options.quiet, [&](const traces::Progress& progress) {
        return traces::import_recordings(files, import, options.output, progress, note_summary);
      }));
  return code != 0 || options.quiet ? code : print_out(printed);
}

}  // namespace

void add_import_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Make a trace of others' recordings");
  std::vector<std::string> names{"auto"};
  std::string formats;
  for (const traces::ImportFormat& format : traces::import_formats()) {
    names.emplace_back(format.name);
    formats += fmt::format("{:<10}  {}\n", format.name, format.about);
  }
  command->footer(
      formats +
      "What a source lacks is named, and kept in the trace. The fields: traces/import/FORMATS.md.\n"
      "Example: draftscope import swift.jsonl --baseline vanilla.jsonl -o swift.dstrace");
  command->add_option("FILE", options->files, "Files to read")->required();
  command->add_option("-o,--output", options->output, "Trace to write")->required();
  command->add_option("--from", options->from, "Format; auto tells it from the file's beginning")
      ->check(one_of(names))
      ->capture_default_str();
  command->add_option("--baseline", options->baseline, "Another file, with the answers of vanilla decoding");
  command->add_option("--model", options->import.model, "Name of the model, where the files lack it");
  add_unset_number(*command, "--layers", options->import.n_layers,
                   "Layers of the target model, where the files lack it", {1, 4096});
  command->add_option("--strategy", options->import.specification, "Name of the run, instead of the file's");
  add_unset_number(*command, "--draft-length", options->import.draft_length,
                   "Draft tokens of every round, where the files have accepted lengths alone", {1, 512});
  command->add_flag(
      "--partial", options->import.partial,
      "Take what is there of a file that was cut off, without single bad events or rows of timelines, "
      "which are counted; open requests count as cancelled");
  command->add_flag("--overwrite", options->import.overwrite, "Replace what is there");
  command->add_flag("-q,--quiet", options->quiet, "No progress, and no summary");
  run_with_inputs(*command, options, outcome, import_files);
}

}  // namespace draftscope::cli
