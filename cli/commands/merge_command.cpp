// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/merge.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/output_options.h"
#include "terminal/messages.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
  std::vector<std::filesystem::path> inputs;  ///< Paths that the command line names.
  traces::MergeOptions merge;
  bool quiet = false;
};

std::string missing_line(const std::vector<traces::Shard>& missing) {
  std::string names;
  for (const traces::Shard& shard : missing) names += (names.empty() ? "" : ", ") + traces::shard_text(shard);
  return names.empty() ? "" : fmt::format("missing: {}\n", names);
}

std::string summary_text(const std::string& target, const traces::MergeSummary& summary) {
  return fmt::format("{}\n{} shards: {} requests, {} rounds, {} spans, {} device activities\n{}", target,
                     summary.shards, summary.requests, summary.rounds, summary.spans, summary.kernels,
                     missing_line(summary.missing));
}

Result<int> merge(const MergeOptions& options) {
  const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
  DRAFTSCOPE_TRY(traces::check_trace_target(options.output, {options.inputs, options.merge.overwrite}));
  std::string printed;
  const auto note_summary = [&](const traces::MergeSummary& summary) {
    printed = summary_text(options.output, summary);
  };
  DRAFTSCOPE_TRY_ASSIGN(
      const int code, run_interruptible("merging", options.quiet, [&](const traces::Progress& progress) {
        return traces::merge_shards(files, options.merge, options.output, progress, note_summary);
      }));
  return code != 0 || options.quiet ? code : print_out(printed);
}

}  // namespace

void add_merge_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App* command = app.add_subcommand("merge", "Make one recording of its shards");
  command->footer(
      "Shards are what record --shard I/N writes. All must have the same settings, model, build and "
      "machine.\n"
      "Those of tune are for tune --from-shards.\n"
      "Example: draftscope merge run.*-of-4.dstrace -o run.dstrace");
  command->add_option("FILE", options->files, "The shards, in any order")->required();
  command->add_option("-o,--output", options->output, "Trace to write")->required();
  command->add_flag("--partial", options->merge.is_partial, "Shards may be missing");
  command->add_flag("--mixed-machines", options->merge.has_mixed_machines,
                    "Processors and thread counts may differ: speedups stay paired, tokens/s are a mixture");
  command->add_flag("--overwrite", options->merge.overwrite, "Replace what is there");
  command->add_flag("-q,--quiet", options->quiet, "No progress, and no summary");
  run_with_inputs(*command, options, outcome, merge);
}

}  // namespace draftscope::cli
