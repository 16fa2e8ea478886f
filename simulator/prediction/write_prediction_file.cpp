// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_text.h>
#include <draftscope/simulator/prediction/prediction_file.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <draftscope/speculation/model_shape_json.h>

#include "prediction/prediction_format.h"

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

Json interval_or_null(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return Json::array({interval->low, interval->high});
}

Json question_json(const PredictedQuestion& question) {
  Json json;
  json["kind"] = question_kind_key(question.kind);
  json["strategy"] = question.strategy;
  json["machine"] = question.machine;
  json["gpu"] = question.gpu;
  json["model_shape"] = speculation::named_sizes_json(question.shape);
  json["weights"] = question.weights;
  json["regime"] = question.regime;
  json["batch"] = question.batch;
  json["tensor_parallel"] = question.tensor_parallel;
  json["predicted"] = predicted_json(question.decoding);
  json["notes"] = question.notes;
  return json;
}

}  // namespace

nlohmann::ordered_json predicted_json(const PredictedDecoding& predicted) {
  return {{"speedup", predicted.speedup},
          {"speedup_least_drafted", predicted.speedup_min_drafted},
          {"speedup_most_drafted", predicted.speedup_max_drafted},
          {"interval_80", interval_or_null(predicted.interval_80)},
          {"interval_95", interval_or_null(predicted.interval_95)},
          {"no_interval_reason", predicted.no_interval_reason},
          {"status", answer_status_name(predicted.status)},
          {"rounds_source", round_source_name(predicted.source)},
          {"vanilla_step_ns", predicted.vanilla_step_ns},
          {"draft_step_ns", predicted.draft_step_ns},
          {"verify_ns", predicted.verify_ns},
          {"emitted_tokens_per_round", predicted.mean_accepted_length},
          {"tokens_per_second", predicted.tokens_per_second},
          {"vanilla_tokens_per_second", predicted.vanilla_tokens_per_second}};
}

std::string prediction_text(const PredictionFile& prediction) {
  Json json;
  json["format"] = prediction_format;
  json["version"] = prediction_version;
  json["tool_version"] = prediction.tool_version;
  json["command_line"] = prediction.command_line;
  json["created"] = utc_text(prediction.created_realtime_ns);
  json["created_realtime_ns"] = prediction.created_realtime_ns;
  json["recording"] = {{"file", prediction.recording},
                       {"sha256", prediction.recording_sha256},
                       {"meta", prediction.recording_meta}};
  Json& prompts = json["prompts"] = Json::array();
  for (const LearntPrompt& prompt : prediction.prompts)
    prompts.push_back(
        {{"question_id", prompt.question_id}, {"turn", prompt.turn}, {"sha256", prompt.sha256}});
  json["draws"] = prediction.draws;
  json["seed"] = prediction.seed;
  Json& predictions = json["predictions"] = Json::array();
  for (const PredictedQuestion& question : prediction.questions)
    predictions.push_back(question_json(question));
  // The digest is of what will be read back, in which broken UTF-8 is replaced already.
  json["digest"] = prediction_digest(nlohmann::json::parse(json_text(json)));
  return json_text(json);
}

}  // namespace draftscope::simulator
