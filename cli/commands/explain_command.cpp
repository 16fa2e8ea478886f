// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/answers/simulated_remedies.h>
#include <draftscope/traces/reader.h>

#include <memory>

#include "report/answers/explain_text.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

struct ExplainCommandOptions {
  std::vector<std::string> files;
  bool only_measured = false;
  bool json = false;
  bool quiet = false;
};

/// Diagnoses of one file. They include the simulator's answers if it can be asked, else the reason why not.
Result<std::vector<simulator::Diagnosis>> diagnoses_of(const std::string& file,
                                                       const simulator::MeasuredRecording& measured,
                                                       bool only_measured) {
  if (only_measured) return simulator::explain(measured, {.no_what_if_reason = "--measured-only was given"});
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  const auto what_if = simulator::train_to_explain(reader, *measured.recording);
  if (!what_if) return simulator::explain(measured, {.no_what_if_reason = what_if.error().message});
  return simulator::explain(measured, {.simulate = simulator::simulated_remedies(*what_if)});
}

Result<int> explain(const ExplainCommandOptions& options) {
  std::vector<simulator::MeasuredRecording> measured;
  std::vector<ExplainedRecording> explained;
  measured.reserve(options.files.size());
  ProgressBar progress("explaining", options.quiet);
  const auto all = static_cast<std::int64_t>(options.files.size());
  for (const std::string& file : options.files) {
    DRAFTSCOPE_TRY_ASSIGN(simulator::MeasuredRecording one, simulator::measure_recording(file));
    measured.push_back(std::move(one));
    DRAFTSCOPE_TRY_ASSIGN(std::vector<simulator::Diagnosis> diagnoses,
                          diagnoses_of(file, measured.back(), options.only_measured));
    if (diagnoses.empty() && !measured.back().timeline)
      return fail("{}: found no run but vanilla, expected one that drafts", file);
    explained.push_back({&measured.back(), std::move(diagnoses)});
    progress.update(static_cast<std::int64_t>(explained.size()), all);
  }
  return print_out(options.json ? explain_json(explained)
                                : explain_text(explained, options.quiet, glyphs_for_stdout()));
}

}  // namespace

void add_explain_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ExplainCommandOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Say in plain sentences why each run is as fast as it is");
  command->footer(
      "Says what a round takes and yields, and what of it costs too much, dearest first, with where to "
      "look,\n"
      "what to try and what the simulator says that would bring. Takes any recording, imported ones too.\n"
      "What each finding means: docs/explain.md. Keys of --json: cli/OUTPUT.md.\n"
      "Example: draftscope explain run.dstrace");
  command->add_option("FILE", options->files, "Traces to read")->required();
  command->add_flag("--measured-only", options->only_measured,
                    "Do not ask the simulator, which takes most of the time");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "Findings and costs alone; no progress");
  command->callback([options, &outcome] { finish(outcome, explain(*options)); });
}

}  // namespace draftscope::cli
