// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <memory>
#include <vector>

#include "report/compare_text.h"
#include "report/device_report.h"

namespace draftscope::cli {

namespace {

struct CompareOptions {
  std::vector<std::string> files;
  std::string run;        ///< The run of --device; empty = the baseline.
  std::string other_run;  ///< The other file's; empty = as in the first file.
  bool device = false;
  bool json = false;
  bool csv = false;
};

Result<int> compare_devices(const CompareOptions& options) {
  if (options.files.size() != 2)
    return fail("--device: found {} files, expected two, or one file twice", options.files.size());
  DRAFTSCOPE_TRY_ASSIGN(const auto first, simulator::measure_recording(options.files.front()));
  DRAFTSCOPE_TRY_ASSIGN(const auto other, simulator::measure_recording(options.files.back()));
  DRAFTSCOPE_TRY_ASSIGN(const ComparedDevice a, read_compared_device(first, options.run));
  DRAFTSCOPE_TRY_ASSIGN(
      const ComparedDevice b,
      read_compared_device(other, options.other_run.empty() ? options.run : options.other_run));
  return print_out(options.json ? device_comparison_json(a, b)
                                : device_comparison_text(a, b, glyphs_for_stdout()));
}

Result<int> compare(const CompareOptions& options) {
  if (options.device) return compare_devices(options);
  Comparisons comparisons;
  for (const std::string& file : options.files) {
    DRAFTSCOPE_TRY_ASSIGN(simulator::MeasuredRecording measured, simulator::measure_recording(file));
    if (options.csv && measured.timeline)
      return fail("{}: holds a timeline without runs, expected runs for --csv", file);
    comparisons.recordings.push_back(std::move(measured));
  }
  const traces::Recording& first = *comparisons.recordings.front().recording;
  const std::vector<simulator::RunRows> first_runs = simulator::rows_by_run(first);
  for (std::size_t i = 1; i < comparisons.recordings.size(); ++i) {
    const traces::Recording& other = *comparisons.recordings[i].recording;
    const std::vector<simulator::RunRows> other_runs = simulator::rows_by_run(other);
    comparisons.against_first.push_back(
        {simulator::meta_differences(simulator::Baseline(first.meta), simulator::Comparison(other.meta)),
         simulator::compare_runs(simulator::Baseline(first_runs), simulator::Comparison(other_runs)),
         simulator::tracing_cost(simulator::Baseline(first), simulator::Comparison(other))});
  }
  if (options.json) return print_out(compare_json(comparisons));
  if (options.csv) return print_out(compare_csv(comparisons));
  return print_out(compare_text(comparisons, glyphs_for_stdout()));
}

}  // namespace

void add_compare_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Compare the runs of a recording, or recordings with the first one");
  command->footer(
      "Speedups are within a recording, over its vanilla run. Runs of the same specification are also "
      "compared\n"
      "across recordings, by prompt text; what was recorded differently is listed on top.\n"
      "Keys of --json and columns of --csv: cli/OUTPUT.md.\n"
      "Example: draftscope compare before.dstrace after.dstrace");
  command
      ->add_option("FILE", options->files, "Traces to read; the first is what the others are compared with")
      ->required();
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  CLI::Option* csv = command->add_flag("--csv", options->csv, "Print CSV, one line a run")->excludes(json);
  CLI::Option* device =
      command
          ->add_flag("--device", options->device,
                     "What an output token took in two files: by phase, and by operation and gap of a device")
          ->excludes(csv);
  command->add_option("--run", options->run, "The run of --device, by its specification; else the baseline")
      ->needs(device);
  command->add_option("--other-run", options->other_run, "The run of the second file, if it is another one")
      ->needs(device);
  command->callback([options, &outcome] { finish(outcome, compare(*options)); });
}

}  // namespace draftscope::cli
