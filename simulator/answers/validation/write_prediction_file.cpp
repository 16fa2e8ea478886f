// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_text.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/figure_tables.h>
#include <draftscope/simulator/answers/answer_figures.h>
#include <draftscope/simulator/answers/prediction_file.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/speculation/model_shape_json.h>

#include "answers/validation/prediction_format.h"

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const PredictedRequest::Counts& counts) {
  return {{"rounds", counts.rounds},
          {"drafted", counts.drafted},
          {"accepted", counts.accepted},
          {"emitted", counts.emitted}};
}

Json requests_json(const std::vector<PredictedRequest>& requests) {
  Json all = Json::array();
  for (const PredictedRequest& request : requests)
    all.push_back({{"sha256", request.prompt_sha256},
                   {"min_drafted", counts_json(request.least)},
                   {"max_drafted", counts_json(request.most)}});
  return all;
}

Json question_json(const PredictedQuestion& question) {
  Json json = Json::object();
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
  json["requests"] = requests_json(question.requests);
  json["notes"] = question.notes;
  return json;
}

}  // namespace

nlohmann::ordered_json predicted_json(const PredictedDecoding& predicted) {
  return figures_object(predicted_decoding_figures(), predicted);
}

std::string prediction_text(const PredictionFile& prediction) {
  Json json = Json::object();
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
