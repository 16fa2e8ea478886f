// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/clock.h>
#include <draftscope/base/output_file.h>
#include <draftscope/base/sha256.h>
#include <draftscope/simulator/answers/prediction_file.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <memory>
#include <set>

#include "commands/learning.h"
#include "options/machine_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "terminal/numbers.h"
#include "terminal/progress_bar.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

struct PredictOptions {
  SimulateOptions asked;
  std::filesystem::path output;
  std::vector<std::filesystem::path> inputs;  ///< that the command line names
  std::string command_line;
};

/// The texts of finished requests; each once.
std::vector<simulator::LearntPrompt> learnt_prompts(const traces::Recording& recording) {
  std::set<const traces::Prompt*> known;
  std::vector<simulator::LearntPrompt> prompts;
  for (const simulator::RunRows& run : simulator::rows_by_run(recording))
    for (const simulator::RequestRows& rows : run.requests)
      if (known.insert(rows.prompt).second)
        prompts.push_back({rows.prompt->question_id, rows.prompt->turn, sha256_of(rows.prompt->text)});
  return prompts;
}

simulator::QuestionKind kind_of(const std::string& strategy, const simulator::Scenario& asked,
                                const simulator::Scenario& recorded, const traces::Recording& recording) {
  using simulator::QuestionKind;
  if (asked.gpu || asked.regime != recorded.regime || asked.batch != recorded.batch ||
      asked.tensor_parallel != recorded.tensor_parallel)
    return QuestionKind::unseen_machine;
  if (asked.shape.name != recorded.shape.name || asked.shape.n_layers != recorded.shape.n_layers ||
      asked.weights != recorded.weights)
    return QuestionKind::unseen_shape;
  std::vector<simulator::StrategySetting> known;
  for (const traces::Run& run : recording.runs)
    if (!run.is_baseline) known.push_back(simulator::setting_of_specification(run.specification));
  return kind_of_setting(simulator::setting_of_specification(strategy), known);
}

Result<simulator::PredictedQuestion> ask(const simulator::WhatIf& what_if, const traces::Recording& recording,
                                         const std::string& strategy, const simulator::Machine& machine,
                                         const simulator::SweepOptions& draws,
                                         const std::optional<std::string>& other_texts) {
  const simulator::Scenario recorded = what_if.recorded_scenario();
  DRAFTSCOPE_TRY_ASSIGN(simulator::StrategyRounds rounds, what_if.rounds(strategy, machine));
  if (other_texts) ask_of_other_texts(rounds, *other_texts);
  std::vector<simulator::PredictedRequest> requests;
  if (!other_texts && speculation::same_sizes(machine.scenario.shape, recorded.shape))
    requests = simulator::predicted_requests(what_if, recording, rounds);
  rounds = simulator::for_shape(std::move(rounds), recorded.shape, machine.scenario.shape);
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Answer answer,
                        simulator::ask(what_if.costs().model, rounds, machine, draws));
  const simulator::QuestionKind kind = kind_of(strategy, machine.scenario, recorded, recording);
  simulator::PredictedQuestion question{
      .kind = other_texts ? std::max(kind, simulator::QuestionKind::unseen_task) : kind,
      .strategy = strategy,
      .machine = machine.name,
      .gpu = machine.scenario.gpu ? machine.scenario.gpu->name : "",
      .shape = machine.scenario.shape,
      .weights = std::string(weight_type_name(machine.scenario.weights)),
      .regime = std::string(regime_name(machine.scenario.regime)),
      .batch = machine.scenario.batch,
      .tensor_parallel = machine.scenario.tensor_parallel,
      .decoding = simulator::predicted_decoding(answer),
      .requests = std::move(requests),
      .notes = answer.notes};
  for (const simulator::CostNote& note : answer.cost_notes) question.notes.push_back(note.text);
  return question;
}

/// Notes, each once, with the predictions that rest on it.
std::string notes_text(const simulator::PredictionFile& prediction) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_note;  // in order of appearance
  for (const simulator::PredictedQuestion& question : prediction.questions)
    for (const std::string& note : question.notes) {
      auto known = std::find_if(by_note.begin(), by_note.end(),
                                [&](const auto& entry) { return entry.first == note; });
      if (known == by_note.end()) known = by_note.insert(known, {note, {}});
      const std::string about = printable(question.strategy) + ", " + printable(question.machine);
      if (known->second.empty() || known->second.back() != about) known->second.push_back(about);
    }
  if (by_note.empty()) return "";
  std::string text = "\nNotes\n";
  for (const auto& [note, about] : by_note)
    text += fmt::format(
        "  {}: {}\n",
        about.size() == prediction.questions.size() ? "all" : fmt::format("{}", fmt::join(about, "; ")),
        printable(note));
  return text;
}

std::string questions_text(const simulator::PredictionFile& prediction, const Glyphs& glyphs) {
  Table table({{"kind", Align::left},
               {"strategy", Align::left},
               {"machine", Align::left},
               {"predicted"},
               {"80 %"},
               {"95 %"},
               {"tokens/s"}});
  const auto interval = [&](const std::optional<simulator::Interval>& found) {
    return found ? fmt::format("{:.2f}{}{:.2f}", found->low, glyphs.range(), found->high)
                 : std::string(glyphs.absent());
  };
  for (const simulator::PredictedQuestion& question : prediction.questions)
    table.add_row({std::string(question_kind_name(question.kind)), printable(question.strategy),
                   printable(question.machine), factor(question.decoding.speedup, glyphs),
                   interval(question.decoding.interval_80), interval(question.decoding.interval_95),
                   number(question.decoding.tokens_per_second)});
  return table.text(2, glyphs.columns) + notes_text(prediction);
}

Result<void> write(const simulator::PredictionFile& prediction, const std::filesystem::path& path) {
  const std::string text = simulator::prediction_text(prediction);
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  file.write(text);
  return file.commit();
}

Result<int> predict(const PredictOptions& options) {
  const SimulateOptions& asked = options.asked;
  DRAFTSCOPE_TRY(check_output_file(options.output, {options.inputs, asked.overwrite}));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(asked.file));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const simulator::WhatIf what_if, learn_from(asked, reader, recording));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> strategies, swept_strategies(asked));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<simulator::Machine> machines,
                        swept_machines(asked, what_if.recorded_scenario()));

  DRAFTSCOPE_TRY_ASSIGN(const std::optional<std::string> other_texts, other_kind_of_texts(asked, recording));
  simulator::PredictionFile prediction{.tool_version = DRAFTSCOPE_VERSION,
                                       .command_line = options.command_line,
                                       .recording = std::filesystem::path(asked.file).filename().string(),
                                       .recording_meta = recording.meta,
                                       .prompts = learnt_prompts(recording),
                                       .draws = asked.draws,
                                       .seed = asked.seed};
  DRAFTSCOPE_TRY_ASSIGN(prediction.recording_sha256, sha256_of_file(asked.file));
  const simulator::SweepOptions draws{.draws = asked.draws, .seed = asked.seed};
  ProgressBar progress("predicting", asked.quiet);
  const auto questions = static_cast<std::int64_t>(strategies.size() * machines.size());
  for (const std::string& strategy : strategies)
    for (const simulator::Machine& machine : machines) {
      // A question without an answer would be missing when the others are scored.
      DRAFTSCOPE_TRY_ASSIGN(simulator::PredictedQuestion question,
                            ask(what_if, recording, strategy, machine, draws, other_texts));
      prediction.questions.push_back(std::move(question));
      progress.update(static_cast<std::int64_t>(prediction.questions.size()), questions);
    }
  prediction.created_realtime_ns = read_clock_pair().realtime_ns;
  DRAFTSCOPE_TRY(write(prediction, options.output));
  if (asked.quiet) return 0;
  DRAFTSCOPE_TRY_ASSIGN(const simulator::PredictionFile written, simulator::read_prediction(options.output));
  return print_out(fmt::format("{}\n{} {}, {}\n", questions_text(prediction, glyphs_for_stdout()),
                               options.output.string(), utc_text(prediction.created_realtime_ns),
                               written.digest));
}

}  // namespace

void add_predict_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  const auto options = std::make_shared<PredictOptions>();
  SimulateOptions& asked = options->asked;
  CLI::App* command =
      app.add_subcommand("predict", "Write down predictions with their date and digest, to measure later");
  command->footer(
      "The file names the recording by its SHA-256 and carries a digest of its own content, so that later "
      "edits show.\n"
      "Keep the digest where nobody can change it; then draftscope measure records what was predicted, and\n"
      "draftscope score compares. Keys of the file: cli/OUTPUT.md.\n"
      "Example: draftscope predict run.dstrace -s layerskip:exit=5,gamma=4 -s dv:exit=7 -o prediction.json\n"
      "         draftscope predict run.dstrace -s layerskip:exit=7,gamma=4 --gpu H200 -o h200.json");
  command->add_option("FILE", asked.file, "Trace to learn from")->required();
  command->add_option("-s,--strategy", asked.strategies, "name:key=value,… to ask about")->required();
  command->add_option("-o,--output", options->output, "The prediction to write (.json)")->required();
  add_machine_options(*command, asked);
  add_number(*command, "--draws", asked.draws, "Of requests and costs, for the intervals", {200, 100000})
      ->capture_default_str();
  add_number(*command, "--seed", asked.seed, "Same seed, same intervals");
  command->add_flag("--overwrite", asked.overwrite, "Replace an existing prediction");
  command->add_flag("-q,--quiet", asked.quiet, "No progress, print nothing");
  options->command_line = command_line;
  command->callback([options, command, &outcome] {
    options->inputs = files_named_by(*command, "--output");
    finish(outcome, predict(*options));
  });
}

}  // namespace draftscope::cli
