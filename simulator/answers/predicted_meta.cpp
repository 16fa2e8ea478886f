// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/predicted_meta.h"

#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace draftscope::simulator {

namespace {

using Json = nlohmann::ordered_json;

template <std::size_t count>
void copy(const traces::Meta& from, const std::array<const char*, count>& keys, traces::Meta& into) {
  for (const char* const key : keys)
    if (const auto found = from.find(key); found != from.end()) into[key] = found->second;
}

bool is_same_model(const ModelShape& a, const ModelShape& b) {
  return a.name == b.name && a.n_layers == b.n_layers && a.d_model == b.d_model && a.d_ff == b.d_ff;
}

/// JSON of the shape. End tokens belong to the text, whatever the shape.
std::string shape_json(const ModelShape& shape, const std::string& recorded) {
  Json json = Json::object();
  for (const auto& [name, member] : speculation::shape_sizes) json[name] = shape.*member;
  if (!shape.architecture.empty()) json["architecture"] = shape.architecture;
  const Json before = Json::parse(recorded, nullptr, false);
  if (before.is_object() && before.contains("eos_tokens")) json["eos_tokens"] = before["eos_tokens"];
  return json.dump();
}

Json run_json(const PredictedRun& run) {
  const RatioEstimate& least = run.answer.speedup.min_drafted;
  const auto& most = run.answer.speedup.max_drafted;
  Json json{{"rounds_source", round_source_name(run.rounds.source)},
            {"status", answer_status_name(run.answer.status)},
            {"speedup", least.value},
            {"speedup_most_drafted", most ? Json(most->value) : Json(nullptr)},
            {"interval_95", nullptr}};
  if (const auto interval = run.answer.speedup.interval_95())
    json["interval_95"] = {interval->low, interval->high};
  json["notes"] = run.answer.notes;
  return json;
}

/// Data that texts and rounds lack, in the prediction as well; times are predicted.
std::vector<traces::MissingData> missing_data_of_prediction(const traces::Meta& recorded, bool has_prefill) {
  using traces::MissingData;
  constexpr std::array times{MissingData::wall_times, MissingData::first_token_times,
                             MissingData::round_times, MissingData::phase_times, MissingData::prefill_times};
  std::vector<MissingData> lacks = traces::missing_data_of(recorded);
  lacks.erase(std::remove_if(lacks.begin(), lacks.end(),
                             [&](MissingData lack) {
                               return std::find(times.begin(), times.end(), lack) != times.end();
                             }),
              lacks.end());
  if (!has_prefill) lacks.push_back(MissingData::prefill_times);
  return lacks;
}

}  // namespace

bool is_as_recorded(const WhatIf& what_if, const PredictedTrace& trace) {
  const Scenario recorded = what_if.recorded_scenario();
  const Scenario& asked = trace.machine.scenario;
  return what_if.costs().model.from_trace && trace.machine.costs == nullptr && !asked.gpu &&
         is_same_model(recorded.shape, asked.shape) && asked.weights == recorded.weights &&
         asked.regime == recorded.regime && asked.batch == 1 && asked.tensor_parallel == 1 &&
         std::all_of(trace.runs.begin(), trace.runs.end(),
                     [](const PredictedRun& run) { return run.rounds.longer_context == 0; });
}

traces::Meta predicted_meta(const WhatIf& what_if, const traces::Recording& recording,
                            const PredictedTrace& trace) {
  constexpr std::array sampling{"seed",
                                "temperature",
                                "top_k",
                                "top_p",
                                "coupling",
                                "max_tokens",
                                "cache_rows",
                                "prompts_file",
                                "stop_strings",
                                "repetition_penalty",
                                "min_p",
                                "frequency_penalty",
                                "presence_penalty",
                                "logit_bias"};
  constexpr std::array model{"model",     "model_path", "model_shape", "checkpoint_hash",
                             "synthetic", "redundancy", "stored_as"};
  constexpr std::array machine{"device", "processor", "kernels", "threads", "hostname", "kernel_release"};
  const Scenario& asked = trace.machine.scenario;
  const Scenario recorded = what_if.recorded_scenario();
  traces::Meta meta = trace.meta;
  copy(recording.meta, sampling, meta);
  if (is_same_model(recorded.shape, asked.shape)) {
    copy(recording.meta, model, meta);
  } else {
    meta["model"] = asked.shape.name;
    meta["model_shape"] = shape_json(asked.shape, meta_value(recording.meta, "model_shape"));
  }
  if (asked.gpu)
    meta["device"] = asked.gpu->name;
  else if (const CostModel* const costs = trace.machine.costs.get())
    meta["device"] = costs->gpu ? costs->gpu->name : costs->width_law == WidthLaw::steps ? "cuda" : "cpu";
  else
    copy(recording.meta, machine, meta);
  const std::string_view weights = weight_type_name(asked.weights);
  meta["weights"] = is_narrow(asked.weights) ? weights : "as-stored";
  meta["dtype"] = is_narrow(asked.weights) ? weight_type_name(WeightType::bf16) : weights;
  meta["level"] = "phases";
  meta["repeats"] = "1";
  const std::vector<traces::MissingData> lacks =
      missing_data_of_prediction(recording.meta, is_as_recorded(what_if, trace));
  if (!lacks.empty()) meta["lacks"] = traces::missing_data_text(lacks);

  meta["predicted_from"] = recording.path.filename().string();
  meta["predicted_from_version"] = meta_value(recording.meta, "tool_version");
  meta["predicted_machine"] = trace.machine.name;
  Json runs = Json::object();
  for (const PredictedRun& run : trace.runs) {
    runs[run.rounds.strategy] = run_json(run);
    if (run.rounds.longer_context > 0)
      meta["predicted_longer_context"] = std::to_string(run.rounds.longer_context);
  }
  meta["predicted_runs"] = runs.dump(-1, ' ', false, Json::error_handler_t::replace);
  return meta;
}

}  // namespace draftscope::simulator
