// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/output_file.h>
#include <draftscope/base/utc_time.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/trace_target.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "commands/learning.h"
#include "commands/sweep_questions.h"
#include "options/machine_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "report/answers/prediction_file.h"
#include "report/answers/simulate_ladder.h"
#include "report/answers/simulate_text.h"
#include "report/answers/simulate_waterfall.h"
#include "terminal/messages.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

/// Errors: several machines, of which a trace, with its one vanilla run, can only have one.
Result<void> check_write(const SimulateOptions& options, const std::vector<simulator::Machine>& machines) {
  if (options.write && machines.size() != 1)
    return fail("--write {}: found {} machines, expected one, whose vanilla run speedups refer to",
                *options.write, machines.size());
  return {};
}

/// Writes the answers as a trace; a strategy without one is left out. Errors name the option.
Result<void> write_answers(const SimulateOptions& options, const simulator::WhatIf& what_if,
                           const traces::Recording& recording, simulator::PredictedTrace trace) {
  trace.meta = {{"tool_version", DRAFTSCOPE_VERSION}};
  trace.overwrite = options.overwrite;
  if (auto written = simulator::write_predicted_trace(what_if, recording, trace, *options.write); !written)
    return fail("--write: {}", written.error().message);
  return {};
}

/// A positive number, if it is given.
void add_optional_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                         const std::string& help) {
  constexpr Range<double> positive{.min = 1e-9, .max = 1e12};
  command.add_option(name, value, help)->transform(number_in<double>(positive));
}

/// The runs as they were recorded, but for the baseline.
std::vector<std::string> recorded_strategies(const traces::Recording& recording) {
  std::vector<std::string> strategies;
  for (const traces::Run& run : recording.runs)
    if (!run.is_baseline) strategies.push_back(run.specification);
  return strategies;
}

/// Prints what was possible, in place of answers. Without --strategy, recorded runs are shown beside it.
Result<int> simulate_waterfalls(const SimulateOptions& options, const simulator::WhatIf& what_if,
                                const traces::Recording& recording,
                                const std::vector<std::string>& strategies,
                                const std::vector<simulator::Machine>& machines) {
  ProgressBar progress("searching", options.quiet);
  auto found = make_waterfalls(
      what_if, recording, strategies, machines, options.longer_context,
      [&](std::int64_t done) { progress.update(done, static_cast<std::int64_t>(machines.size())); });
  if (!found) return fail("{}: {}", options.file, found.error().message);
  const int printed = options.json  ? print_out(waterfall_json(*found))
                      : options.csv ? print_out(waterfall_csv(*found))
                                    : print_out(waterfall_text(*found, options.quiet, glyphs_for_stdout()));
  const int exit_code = found->refusals.empty() ? 0 : exit_failure;
  return printed != 0 ? printed : exit_code;
}

/// Prints in place of the answers' own documents; on a terminal below them.
int print_ladders(const SimulateOptions& options, const Simulation& simulation,
                  const std::vector<AnswerLadder>& ladders) {
  if (options.json) return print_out(ladder_json(simulation, ladders));
  if (options.csv) return print_out(ladder_csv(ladders));
  const Glyphs glyphs = glyphs_for_stdout();
  return print_out(simulate_text(simulation, options.quiet, glyphs) + ladder_text(ladders, glyphs));
}

int print_answers(const SimulateOptions& options, const Simulation& simulation,
                  const std::vector<AnswerLadder>& ladders) {
  if (options.ladder) return print_ladders(options, simulation, ladders);
  if (options.json) return print_out(simulate_json(simulation));
  if (options.csv) return print_out(simulate_csv(simulation));
  return print_out(simulate_text(simulation, options.quiet, glyphs_for_stdout()));
}

/// The answers as a prediction that a later recording can be compared with.
Result<void> write_prediction(const SimulateOptions& options, const Simulation& simulation) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, prediction_text(simulation, options.command_line));
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile out, AtomicFile::create(*options.output));
  out.write(text);
  DRAFTSCOPE_TRY(out.commit());
  if (options.quiet) return {};
  DRAFTSCOPE_TRY_ASSIGN(const PredictionFile written, read_prediction(*options.output));
  print_note(fmt::format("{}: {}, {}", options.output->string(), utc_text(written.created_realtime_ns),
                         written.digest));
  return {};
}

/// A question that has no answer is no success, however many others have one. About the recorded runs nobody
/// asked one by one: a machine that some of them have an answer on is answered.
bool answers_all(const SimulateOptions& options, const Simulation& simulation) {
  const auto has_answers = [&](const std::string& machine) {
    return std::any_of(simulation.answers.begin(), simulation.answers.end(),
                       [&](const auto& answer) { return answer.machine == machine; });
  };
  return std::all_of(simulation.refusals.begin(), simulation.refusals.end(), [&](const Refusal& refusal) {
    return options.strategies.empty() && (refusal.machine.empty() || has_answers(refusal.machine));
  });
}

Result<int> answer(const SimulateOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const simulator::WhatIf what_if, learn_from(options, reader, recording));
  DRAFTSCOPE_TRY_ASSIGN(std::vector<std::string> strategies, swept_strategies(options));
  if (strategies.empty()) strategies = recorded_strategies(recording);
  if (strategies.empty() && !options.waterfall)
    return fail("{}: found no run but vanilla, expected --strategy to say what to ask about", options.file);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<simulator::Machine> machines,
                        swept_machines(options, what_if.recorded_scenario()));
  DRAFTSCOPE_TRY(check_write(options, machines));
  DRAFTSCOPE_TRY_ASSIGN(std::optional<std::string> other_texts, other_kind_of_texts(options, recording));
  if (options.waterfall) return simulate_waterfalls(options, what_if, recording, strategies, machines);

  SweepQuestions questions(options, what_if, recording, machines);
  if (other_texts) questions.ask_of_other_texts(*std::move(other_texts));
  questions.ask_all(strategies);
  const Simulation& simulation = questions.simulation;
  if (simulation.answers.empty()) return fail("{}", simulation.refusals.front().reason);
  if (options.output) DRAFTSCOPE_TRY(write_prediction(options, simulation));
  const int printed = print_answers(options, simulation, questions.ladders);
  if (options.write)
    DRAFTSCOPE_TRY(write_answers(options, what_if, recording, std::move(questions.prediction)));
  const int exit_code = answers_all(options, simulation) ? 0 : exit_failure;
  return printed != 0 ? printed : exit_code;
}

Result<int> simulate(SimulateOptions& options, const CLI::App& command) {
  if (options.output)
    DRAFTSCOPE_TRY(
        check_output_file(*options.output, {files_named_by(command, "--output"), options.overwrite}));
  options.inputs = files_named_by(command, "--write");
  if (options.write)
    DRAFTSCOPE_TRY(traces::check_trace_target(*options.write, {options.inputs, options.overwrite}));
  return answer(options);
}

}  // namespace

void add_simulate_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  const auto options = std::make_shared<SimulateOptions>();
  options->command_line = command_line;
  CLI::App* command =
      app.add_subcommand("simulate", "Predict other strategies, machines and models from a recording");
  command->footer(
      "Rounds of early exits are replayed exactly from a recording with --shadow; recorded runs are asked "
      "about as\n"
      "they are. Costs are fitted to the recording (best at --level ops) or, for another GPU, come from its\n"
      "specification. An imported recording is asked with --gpu, --model and -s layerskip:exit=E,gamma=G, "
      "whose\n"
      "acceptance is modelled. Every answer says what it rests on.\n"
      "Keys of --json and columns of --csv: cli/OUTPUT.md.\n"
      "--ladder takes each speedup apart, --waterfall needs shadow tokens and compares with a clairvoyant.\n"
      "Example: draftscope simulate run.dstrace -s layerskip --sweep exit=3..8 --sweep gamma=1..8\n"
      "         draftscope simulate run.dstrace --waterfall -s layerskip:exit=5,gamma=4\n"
      "         draftscope simulate run.dstrace --gpu H200 --gpu L4 --model Llama-3-8B\n"
      "         draftscope simulate run.dstrace -s del --gpu H200 --write predicted.dstrace\n"
      "         draftscope simulate run.dstrace --calibration machine.json\n"
      "         draftscope simulate run.dstrace -s layerskip:exit=7,gamma=4 -o prediction.json\n"
      "         draftscope validate prediction.json measured.dstrace");
  command->add_option("FILE", options->file, "Trace to learn from")->required();
  command->add_option("-s,--strategy", options->strategies,
                      "name:key=value,… to ask about; default: the recorded runs");
  add_machine_options(*command, *options);
  add_number(*command, "--longer-context", options->longer_context,
             "As if every prompt had so many tokens more before it", {.min = 0});
  add_number(*command, "--draws", options->draws, "Of requests and costs, for the intervals", {200, 100000})
      ->capture_default_str();
  add_number(*command, "--seed", options->seed, "Same seed, same intervals");
  CLI::Option* write = add_optional_output(
      *command, "--write", options->write,
      "Also write the answers as a trace, round by round: report, compare and export open it");
  CLI::Option* output = add_optional_output(*command, "-o,--output", options->output,
                                            "Also write the answers as a dated prediction (.json): validate "
                                            "compares it with a later recording");
  command->add_flag("--overwrite", options->overwrite, "Replace an existing trace or file");
  command->add_flag("--target-exits", options->target_exits,
                    "Exits count the layers of --model; else the recorded model's, at the same share of the "
                    "depth");
  add_optional_number(*command, "--price", options->price,
                      "Of the machine per hour, all its GPUs: for the cost of a million tokens");
  add_optional_number(*command, "--power", options->power,
                      "Watts of the machine while it decodes, all its GPUs: for joules per token");
  command->add_flag("--budget", options->budget, "Say where the uncertainty comes from");
  CLI::Option* ladder =
      command->add_flag("--ladder", options->ladder, "Say what makes each speedup another than layers count")
          ->excludes(output);
  command
      ->add_flag("--waterfall", options->waterfall,
                 "Say what was possible on these texts, and what share of it each strategy gets")
      ->excludes(ladder)
      ->excludes(write)
      ->excludes(output)
      ->excludes("--prompts");
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--csv", options->csv, "Print CSV, one line an answer")->excludes(json);
  command->add_flag("-q,--quiet", options->quiet, "No progress, no notes");
  command->callback([options, command, &outcome] { finish(outcome, simulate(*options, *command)); });
}

}  // namespace draftscope::cli
