// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/trace_target.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include <draftscope/simulator/answers/prediction_file.h>
#include "commands/record_command.h"
#include "options/output_options.h"

namespace draftscope::cli {

namespace {

using simulator::meta_value;

struct MeasureOptions {
  std::filesystem::path prediction;
  RecordOptions record;
};

/// Takes a setting from the recording that the prediction was learnt from, unless the command line has it.
template <typename T>
Result<void> take(const CLI::App& command, const char* option, const simulator::PredictionFile& prediction,
                  const char* key, T& value) {
  if (command.get_option(option)->count() > 0) return {};
  const std::string text = meta_value(prediction.recording_meta, key);
  if (text.empty()) return {};
  const auto number = parse_number<T>(text);
  if (!number)
    return fail("prediction: field recording.meta.{} is {}, expected a number; give {}", key, quote(text),
                option);
  value = *number;
  return {};
}

/// Texts and machine as the prediction was learnt from them, where nothing else is asked for.
Result<void> take_settings(const CLI::App& command, const simulator::PredictionFile& prediction,
                           RecordOptions& options) {
  DRAFTSCOPE_TRY(take(command, "--max-tokens", prediction, "max_tokens", options.decoding.max_tokens));
  DRAFTSCOPE_TRY(take(command, "--seed", prediction, "seed", options.decoding.seed));
  engine::SamplingOptions& sampling = options.decoding.sampling;
  DRAFTSCOPE_TRY(take(command, "--temperature", prediction, "temperature", sampling.temperature));
  DRAFTSCOPE_TRY(take(command, "--top-k", prediction, "top_k", sampling.top_k));
  DRAFTSCOPE_TRY(take(command, "--top-p", prediction, "top_p", sampling.top_p));
  DRAFTSCOPE_TRY(
      take(command, "--repetition-penalty", prediction, "repetition_penalty", sampling.repetition_penalty));
  if (const std::string stops = meta_value(prediction.recording_meta, "stop_strings");
      options.decoding.stop_strings.empty() && !stops.empty()) {
    const auto list = nlohmann::json::parse(stops, nullptr, false);
    const auto is_text = [](const nlohmann::json& value) { return value.is_string(); };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_text))
      return fail("prediction: field recording.meta.stop_strings is {}, expected a list of texts",
                  quote(stops));
    options.decoding.stop_strings = list.get<engine::StopStrings>();
  }
  sampling.coupled = sampling.coupled || meta_value(prediction.recording_meta, "coupling") == "gumbel";
  const bool same_device = options.model.device == "cpu" &&
                           meta_value(prediction.recording_meta, "device") == options.model.device;
  if (same_device) DRAFTSCOPE_TRY(take(command, "--threads", prediction, "threads", options.model.threads));
  return {};
}

Result<int> measure(const CLI::App& command, MeasureOptions options) {
  options.record.inputs = files_named_by(command, "--output");
  DRAFTSCOPE_TRY(
      traces::check_trace_target(options.record.output, {options.record.inputs, options.record.overwrite}));
  DRAFTSCOPE_TRY_ASSIGN(const simulator::PredictionFile prediction,
                        simulator::read_prediction(options.prediction));
  std::vector<std::string>& strategies = options.record.strategies;
  strategies = {"vanilla"};
  for (const simulator::PredictedQuestion& question : prediction.questions)
    if (std::find(strategies.begin(), strategies.end(), question.strategy) == strategies.end())
      strategies.push_back(question.strategy);
  if (strategies.size() == 1)
    return fail("{}: found no prediction but of vanilla, expected one to measure",
                options.prediction.string());
  DRAFTSCOPE_TRY(take_settings(command, prediction, options.record));
  options.record.further_meta = {{"prediction_digest", prediction.digest}};
  return record(options.record);
}

}  // namespace

void add_measure_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  const auto options = std::make_shared<MeasureOptions>();
  CLI::App* command =
      app.add_subcommand("measure", "Record what a prediction is about: vanilla and its strategies");
  command->footer(
      "Sampling, token budget and threads are those of the recording that the prediction was learnt from, "
      "unless given.\n"
      "The trace holds the prediction's digest. Then: draftscope score.\n"
      "Example: draftscope measure prediction.json --model DIR --prompts traces/prompts/mixed.jsonl -o "
      "measured.dstrace");
  command->add_option("PREDICTION", options->prediction, "What draftscope predict wrote")->required();
  add_recording_options(*command, options->record);
  options->record.command_line = command_line;
  command->callback([options, command, &outcome] { finish(outcome, measure(*command, *options)); });
}

}  // namespace draftscope::cli
