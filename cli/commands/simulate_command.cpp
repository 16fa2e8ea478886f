// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/clock.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/output_file.h>
#include <draftscope/simulator/answers/predicted_trace.h>
#include <draftscope/simulator/answers/rounds_part.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/reader.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/learning.h"
#include "options/machine_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "options/unread_options.h"
#include "report/answers/prediction_file.h"
#include "report/answers/simulate_text.h"
#include "report/answers/simulate_waterfall.h"
#include "terminal/messages.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

/// The questions of the command: every strategy on every machine, with the requested output for each answer.
struct Questions {
  const SimulateOptions& options;
  const simulator::WhatIf& what_if;
  const std::vector<simulator::Machine>& machines;
  std::vector<simulator::MeasuredSetting> measured;
  std::optional<std::string> other_texts;  ///< How the texts that are asked about differ; none = they do not.
  Simulation simulation;
  simulator::PredictedTrace prediction;
  std::vector<AnswerLadder> ladders = {};
};

void put_circumstances(const Questions& questions, simulator::StrategyRounds& rounds) {
  if (questions.other_texts) simulator::ask_of_other_texts(rounds, *questions.other_texts);
  if (questions.options.longer_context > 0)
    simulator::lengthen_context(rounds, questions.options.longer_context);
}

/// Comparison with the recorded run that the answer predicts, if there is one.
std::optional<simulator::MeasuredBeside> recorded_run_beside(const Questions& questions,
                                                             const simulator::Answer& answer,
                                                             const simulator::Machine& machine) {
  const bool is_as_recorded = !questions.other_texts && questions.options.longer_context == 0 &&
                              simulator::is_recorded_machine(machine, questions.what_if.recorded_scenario());
  const auto* run = is_as_recorded ? simulator::measured_setting_of(answer, questions.measured) : nullptr;
  if (run == nullptr) return std::nullopt;
  const Simulation& simulation = questions.simulation;
  return simulator::measured_beside(answer, *run, *simulation.fit, simulation.recording->meta);
}

/// Answers to the same question about each part of the prompts; none without --by.
std::vector<AnswerPart> ask_parts(Questions& questions, const simulator::StrategyRounds& rounds,
                                  const simulator::Machine& machine) {
  std::vector<AnswerPart> parts;
  const SimulateOptions& options = questions.options;
  if (options.by.empty()) return parts;
  using simulator::PartBy;
  const PartBy by = options.by == "prompt"    ? PartBy::prompt
                    : options.by == "stretch" ? PartBy::stretch
                                              : PartBy::category;
  const auto of_rounds = parts_of(rounds, by, questions.what_if, *questions.simulation.recording);
  if (!of_rounds) {
    questions.simulation.refusals.push_back(
        {rounds.strategy, machine.name, "no stretches: " + of_rounds.error().message});
    return parts;
  }
  for (const simulator::RoundsPart& part : *of_rounds) {
    // A text that ended with the prefill's token has no rounds, and so no speedup.
    auto answer = simulator::ask(questions.what_if.costs().model, part.rounds, machine, options.draws);
    if (answer) parts.push_back({part.name, *std::move(answer)});
  }
  return parts;
}

/// Asks with rounds that fit the machine's model.
void ask_fitting(Questions& questions, const simulator::StrategyRounds& rounds,
                 const simulator::Machine& machine) {
  const SimulateOptions& options = questions.options;
  const simulator::CostModel& costs = questions.what_if.costs().model;
  Simulation& simulation = questions.simulation;
  auto answer = simulator::ask(costs, rounds, machine, options.draws, options.budget);
  if (!answer) return simulation.refusals.push_back({rounds.strategy, machine.name, answer.error().message});
  if (options.write) questions.prediction.runs.push_back({rounds, *answer});
  if (options.ladder) {
    if (auto ladder = ladder_of(costs, rounds, machine))
      questions.ladders.push_back(*std::move(ladder));
    else
      simulation.refusals.push_back({rounds.strategy, machine.name, ladder.error().message});
  }
  simulation.measured.push_back(recorded_run_beside(questions, *answer, machine));
  simulation.answers.push_back(*std::move(answer));
  simulation.parts.push_back(ask_parts(questions, rounds, machine));
  simulation.scenarios.push_back(machine.scenario);
}

/// Asks the strategy on every machine; calls `asked_one` after each.
template <typename AskedOne>
void ask_strategy(Questions& questions, const std::string& strategy, const AskedOne& asked_one) {
  const simulator::WhatIf& what_if = questions.what_if;
  const auto ask_on = [&](simulator::StrategyRounds rounds, const simulator::Machine& machine) {
    ask_fitting(
        questions,
        simulator::for_shape(std::move(rounds), what_if.recorded_scenario().shape, machine.scenario.shape),
        machine);
  };
  const bool by_times = simulator::goes_by_times(strategy);
  if (!by_times && !questions.options.target_exits) {
    auto rounds = what_if.rounds(strategy);
    if (!rounds) return questions.simulation.refusals.push_back({strategy, "", rounds.error().message});
    put_circumstances(questions, *rounds);
    for (const simulator::Machine& machine : questions.machines) {
      ask_on(*rounds, machine);
      asked_one();
    }
    return;
  }
  // The rounds are specific to each machine.
  for (const simulator::Machine& machine : questions.machines) {
    auto rounds = by_times ? what_if.rounds(strategy, machine)
                           : simulator::rounds_at_target_exit(what_if, strategy, machine.scenario.shape);
    if (rounds) put_circumstances(questions, *rounds);
    if (!rounds)
      questions.simulation.refusals.push_back({strategy, machine.name, rounds.error().message});
    else if (by_times)
      ask_on(*std::move(rounds), machine);
    else
      ask_fitting(questions, *rounds, machine);
    asked_one();
  }
}

/// Checks --write. Errors: several machines, since a trace has one vanilla run and so one machine.
Result<void> check_write(const SimulateOptions& options, const std::vector<simulator::Machine>& machines) {
  if (options.write && machines.size() != 1)
    return fail("--write {}: found {} machines, expected one, whose vanilla run speedups refer to",
                *options.write, machines.size());
  return {};
}

/// Writes the answers as a trace, if --write asks for it; a strategy without an answer is left out. Errors
/// name the option.
Result<void> write_answers(Questions& questions) {
  const SimulateOptions& options = questions.options;
  if (!options.write) return {};
  questions.prediction.meta = {{"tool_version", DRAFTSCOPE_VERSION}};
  questions.prediction.overwrite = options.overwrite;
  if (auto written = simulator::write_predicted_trace(questions.what_if, *questions.simulation.recording,
                                                      questions.prediction, *options.write);
      !written)
    return fail("--write: {}", written.error().message);
  return {};
}

void add_optional_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                         const std::string& help) {
  constexpr Range<double> positive{.min = 1e-9, .max = 1e12};
  command.add_option(name, value, help)->transform(number_in<double>(positive));
}

/// Recorded runs except the baseline.
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
  const int printed = print_out(options.json ? waterfall_json(*found)
                                             : waterfall_text(*found, options.quiet, glyphs_for_stdout()));
  if (printed != 0) return printed;
  print_refusals(options, found->refusals);
  return found->refusals.empty() ? 0 : exit_failure;
}

/// Prints the answers; with --ladder, the ladders in place of their document, and below their text.
int print_answers(const Questions& questions) {
  const SimulateOptions& options = questions.options;
  const Simulation& simulation = questions.simulation;
  if (options.json)
    return print_out(options.ladder ? ladder_json(simulation, questions.ladders)
                                    : json_text(simulate_document(simulation)));
  if (options.csv) return print_out(simulate_csv(simulation));
  const Glyphs glyphs = glyphs_for_stdout();
  return print_out(simulate_text(simulation, options.quiet, glyphs) + ladder_text(questions.ladders, glyphs));
}

/// Writes the answers as a prediction that a later recording can be compared with, and as a trace. Nothing is
/// in its place before all that needs memory is done.
Result<void> write_files(Questions& questions) {
  const SimulateOptions& options = questions.options;
  if (!options.output) return write_answers(questions);
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, prediction_text(questions.simulation, options.command_line));
  DRAFTSCOPE_TRY_ASSIGN(const PredictionFile dated, parse_prediction(text, options.output->string()));
  const std::string note =
      fmt::format("{}: {}, {}", options.output->string(), utc_text(dated.created_realtime_ns), dated.digest);
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile out, AtomicFile::create(*options.output));
  out.write(text);
  DRAFTSCOPE_TRY(out.sync());
  DRAFTSCOPE_TRY(write_answers(questions));
  DRAFTSCOPE_TRY(out.commit());
  if (!options.quiet) print_note(note);
  return {};
}

/// Whether the command succeeded: a question without an answer is a failure, however many others have one.
/// Recorded runs are not asked for one by one, so a machine succeeds if any of them has an answer on it.
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

  Questions questions{
      .options = options,
      .what_if = what_if,
      .machines = machines,
      .measured = simulator::measured_settings(recording),
      .other_texts = std::move(other_texts),
      .simulation = {.recording = &recording, .fit = &what_if.costs().report, .by = options.by},
      .prediction = {.machine = machines.front(), .runs = {}, .meta = {}}};
  {
    ProgressBar progress("simulating", options.quiet);
    const auto all = static_cast<std::int64_t>(strategies.size() * machines.size());
    std::int64_t done = 0;
    for (const std::string& strategy : strategies)
      ask_strategy(questions, strategy, [&] { progress.update(++done, all); });
  }
  const Simulation& simulation = questions.simulation;
  if (simulation.answers.empty()) return fail("{}", simulation.refusals.front().reason);
  const int exit_code = answers_all(options, simulation) ? 0 : exit_failure;
  const int printed = print_answers(questions);
  if (printed != 0) return printed;
  print_refusals(options, simulation.refusals);
  DRAFTSCOPE_TRY(write_files(questions));
  return exit_code;
}

Result<int> simulate(SimulateOptions& options, const CLI::App& command) {
  if (options.output)
    DRAFTSCOPE_TRY(
        check_output_file(*options.output, {files_named_by(command, "--output"), options.overwrite}));
  options.inputs = files_named_by(command, "--write");
  if (options.write)
    DRAFTSCOPE_TRY(traces::check_trace_target(*options.write, {options.inputs, options.overwrite}));
  if (options.output && options.write) {
    std::error_code error;
    const auto output = std::filesystem::weakly_canonical(*options.output, error);
    if (!error && output == std::filesystem::weakly_canonical(*options.write, error))
      return fail("--write: found {}, which --output names, too, expected another file", *options.write);
  }
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
      "         draftscope simulate run.dstrace -s layerskip --sweep exit=3..8 --by category\n"
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
  add_unset_number(*command, "--longer-context", options->longer_context,
                   "As if every prompt had so many tokens more before it", {.min = 0});
  add_draw_options(*command, options->draws);
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
  CLI::Option* by = command->add_option(
      "--by", options->by, "Also answer for each category, prompt or stretch of 64 output tokens");
  by->check(one_of({"category", "prompt", "stretch"}));
  command->add_flag("--budget", options->budget, "Say where the uncertainty comes from");
  CLI::Option* ladder =
      command->add_flag("--ladder", options->ladder, "Say what makes each speedup another than layers count")
          ->excludes(output, by);
  CLI::Option* waterfall =
      command
          ->add_flag("--waterfall", options->waterfall,
                     "Say what was possible on these texts, and what share of it each strategy gets")
          ->excludes(ladder, by, write, output, "--prompts", "--target-exits");
  // A speedup of --waterfall or of a ladder's document is no answer with draws, a price and a power.
  const std::vector<std::string> of_answers{"--seed", "--draws", "--budget", "--price", "--power"};
  for (const std::string& name : of_answers) waterfall->excludes(name);
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--csv", options->csv, "Print CSV, one line an answer")
      ->excludes(json, ladder, waterfall);
  command->add_flag("-q,--quiet", options->quiet, "No progress, no notes");
  unread_with(*command, "--ladder --json", of_answers, "it without --json");
  read_only_with(*command, {"--write", "--output"}, {"--overwrite"});
  command->callback([options, command, &outcome] { finish(outcome, simulate(*options, *command)); });
}

}  // namespace draftscope::cli
