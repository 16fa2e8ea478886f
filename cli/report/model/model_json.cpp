// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_shape_json.h>

#include "report/model/model_report.h"
#include "report/report_json_parts.h"

namespace draftscope::cli {

namespace {

Json token_json(const NamedToken& token) {
  return {{"id", token.id}, {"text", token.text}};
}

template <typename T>
Json text_or_null(const T& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json strategy_json(const StrategyOnModel& strategy) {
  Json json{{"name", strategy.name}};
  json["parameters"] = strategy.parameters.empty() ? Json(nullptr) : Json::parse(strategy.parameters);
  json["draft"] = text_or_null(strategy.draft);
  json["draft_layers"] = json_or_null(strategy.draft_layers);
  json["lacks"] = text_or_null(strategy.lacks);
  return json;
}

}  // namespace

std::string model_json(const ModelReport& report) {
  const engine::Checkpoint& checkpoint = report.checkpoint;
  const speculation::ModelShape& shape = checkpoint.shape;
  Json json = new_document();
  json["model"] = shape.name;
  json["path"] = text_or_null(checkpoint.path.string());
  json["synthetic"] = checkpoint.synthetic;
  json["checkpoint_hash"] = checkpoint.hash;
  json["model_shape"] = Json::parse(speculation::recorded_shape_json(shape));
  json["parameters"] = checkpoint.parameters();
  json["stored_as"] = text_or_null(checkpoint.stored_as);
  json["file_bytes"] = checkpoint.synthetic ? Json(nullptr) : Json(report.file_bytes);
  json["dtype"] = engine::dtype_name(checkpoint.weights.embedding.dtype);
  json["weight_bytes"] = checkpoint.weight_bytes();
  json["bytes_per_step"] = checkpoint.bytes_per_step();
  json["kv_bytes_per_token"] = report.kv_bytes_per_token;
  json["context_tokens"] = shape.max_positions;
  json["tokenizer"] = text_or_null(report.tokenizer);
  json["tokenizer_problem"] = text_or_null(report.tokenizer_problem);
  json["bos"] = report.bos ? token_json(*report.bos) : Json(nullptr);
  json["eos"] = Json::array();
  for (const NamedToken& token : report.eos) json["eos"].push_back(token_json(token));
  json["chat_template"] = report.has_chat_template;
  json["head_in_layers"] = report.head_in_layers;
  json["strategies"] = Json::array();
  for (const StrategyOnModel& strategy : report.strategies)
    json["strategies"].push_back(strategy_json(strategy));
  return json_text(json);
}

}  // namespace draftscope::cli
