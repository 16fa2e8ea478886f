// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_json_parts.h"

#include "report/report_header.h"

namespace draftscope::cli {

namespace {

std::string_view target_step_name(simulator::TargetStep source) {
  switch (source) {
    case simulator::TargetStep::baseline_rounds:
      return "baseline_rounds";
    case simulator::TargetStep::verification:
      return "verification";
    case simulator::TargetStep::unknown:
      break;
  }
  return "unknown";
}

/// The run's parameters as JSON; as text if the file holds something else.
Json parameters_json(const std::string& text) {
  Json parameters = Json::parse(text, nullptr, false);
  return parameters.is_discarded() ? Json(text) : parameters;
}

void add_throughput(Json& json, const simulator::Throughput& throughput) {
  json["requests"] = throughput.requests;
  json["unfinished_requests"] = throughput.unfinished_requests;
  json["output_tokens"] = throughput.output_tokens;
  json["wall_ns"] = throughput.wall_ns;
  json["decode_ns"] = throughput.decode_ns;
  json["tokens_per_second"] = json_or_null(throughput.tokens_per_second);
  json["decode_tokens_per_second"] = json_or_null(throughput.decode_tokens_per_second);
  json["time_to_first_token"] = nullptr;
  if (const auto& first = throughput.time_to_first_token)
    json["time_to_first_token"] = {{"mean_ns", first->mean_ns},
                                   {"median_ns", first->median_ns},
                                   {"minimum_ns", first->minimum_ns},
                                   {"maximum_ns", first->maximum_ns}};
}

void add_acceptance(Json& json, const simulator::Acceptance& acceptance) {
  json["rounds"] = acceptance.rounds;
  json["drafted_tokens"] = acceptance.drafted_tokens;
  json["accepted_tokens"] = acceptance.accepted_tokens;
  json["draft_steps"] = acceptance.draft_steps;
  json["mean_accepted_length"] = json_or_null(acceptance.mean_accepted_length);
  json["acceptance_rate"] = json_or_null(acceptance.acceptance_rate);
  json["tested_rate"] = json_or_null(acceptance.tested_rate);
  json["emitted_tokens_per_round"] = json_or_null(acceptance.emitted_per_round);
  json["draft_steps_per_round"] = json_or_null(acceptance.steps_per_round);
}

void add_distributions(Json& json, const simulator::Acceptance& acceptance) {
  Json& positions = json["acceptance_by_position"] = Json::array();
  for (std::size_t k = 0; k < acceptance.by_position.size(); ++k) {
    const simulator::PositionAcceptance& position = acceptance.by_position[k];
    positions.push_back({{"position", k},
                         {"drafted", position.drafted},
                         {"reached", position.reached},
                         {"accepted", position.accepted},
                         {"accepted_of_drafted", position.of_drafted()},
                         {"accepted_of_reached", position.of_reached()}});
  }
  json["rounds_by_draft_length"] = acceptance.draft_lengths;
  Json& stops = json["rounds_by_draft_stop"] = Json::object();
  for (std::size_t stop = 0; stop < acceptance.draft_stops.size(); ++stop)
    stops[std::string(traces::draft_stop_name(static_cast<traces::DraftStop>(stop)))] =
        acceptance.draft_stops[stop];
}

void add_costs(Json& json, const simulator::LoadedLayers& layers, const simulator::DraftCost& cost) {
  json["n_layers"] = layers.n_layers > 0 ? Json(layers.n_layers) : Json(nullptr);
  json["loaded_layers"] = layers.loaded_layers;
  json["etpl"] = json_or_null(layers.etpl);
  json["etpl_pooled"] = json_or_null(layers.etpl_pooled);
  json["layer_count_speedup"] = json_or_null(layers.layer_count_speedup);
  json["draft_ns_per_round"] = json_or_null(cost.draft_ns_per_round);
  json["draft_ns_per_step"] = json_or_null(cost.draft_ns_per_step);
  json["verify_ns_per_round"] = json_or_null(cost.verify_ns_per_round);
  json["target_step_ns"] =
      cost.target_step == simulator::TargetStep::unknown ? Json(nullptr) : Json(cost.target_step_ns);
  json["target_step_source"] = target_step_name(cost.target_step);
  json["draft_cost_coefficient"] = json_or_null(cost.c);
  json["verify_cost"] = json_or_null(cost.v);
  json["other_cost"] = json_or_null(cost.o);
  json["closed_form_speedup"] = json_or_null(cost.closed_form_speedup);
}

Json breakdown_json(const simulator::RunBreakdown& breakdown) {
  if (breakdown.source == simulator::BreakdownSource::none) return nullptr;
  Json json;
  json["source"] = breakdown.source == simulator::BreakdownSource::spans ? "spans" : "rounds";
  for (std::size_t phase = 0; phase < breakdown.by_phase.size(); ++phase)
    json[std::string(traces::phase_name(static_cast<traces::Phase>(phase))) + "_ns"] =
        breakdown.by_phase[phase];
  return json;
}

Json device_json(const simulator::DeviceTime& device) {
  Json json{{"rounds", device.rounds},        {"activities", device.activities}, {"wall_ns", device.wall_ns},
            {"busy_ns", device.busy_ns},      {"gap_ns", device.gap_ns},         {"host_ns", device.host_ns},
            {"outside_ns", device.outside_ns}};
  for (std::size_t phase = 0; phase < device.busy_by_phase.size(); ++phase)
    json["busy_" + std::string(traces::phase_name(static_cast<traces::Phase>(phase))) + "_ns"] =
        device.busy_by_phase[phase];
  return json;
}

}  // namespace

Json recording_json(const simulator::MeasuredRecording& measured) {
  const traces::Recording& recording = *measured.recording;
  Json json;
  json["path"] = recording.path.string();
  json["schema_version"] = measured.schema_version;
  json["closed_cleanly"] = recording.closed_cleanly;
  json["warnings"] = simulator::warnings(measured);
  json["meta"] = recording.meta;
  return json;
}

Json speedup_json(const simulator::Speedup& speedup) {
  Json json;
  json["value"] = speedup.value;
  json["estimator"] =
      speedup.estimator == simulator::SpeedupEstimator::total_wall_time ? "total_wall_time" : "prompt_mean";
  json["decode_value"] = json_or_null(speedup.decode_value);
  json["prompts"] = speedup.prompts;
  json["request_pairs"] = speedup.pairs;
  json["unpaired_requests"] = speedup.unpaired;
  json["by_repeat"] = speedup.by_repeat;
  json["repeat_median"] = speedup.repeat_median;
  json["repeat_minimum"] = speedup.repeat_minimum;
  json["repeat_maximum"] = speedup.repeat_maximum;
  json["interval_low"] = speedup.interval ? Json(speedup.interval->low) : Json(nullptr);
  json["interval_high"] = speedup.interval ? Json(speedup.interval->high) : Json(nullptr);
  json["p_value"] = json_or_null(speedup.p_value);
  return json;
}

Json identity_json(const simulator::OutputIdentity& identity) {
  return {{"compared_prompts", identity.compared_prompts},
          {"differing_prompts", identity.differing_prompts},
          {"compared_requests", identity.compared_requests},
          {"differing_requests", identity.differences.size()}};
}

Json figures_json(const simulator::Figures& figures) {
  Json json;
  json["run_id"] = figures.run->id;
  json["strategy"] = figures.run->strategy;
  json["specification"] = figures.run->specification;
  json["parameters"] = parameters_json(figures.run->parameters);
  json["is_baseline"] = figures.run->is_baseline;
  add_throughput(json, figures.throughput);
  add_acceptance(json, figures.acceptance);
  add_costs(json, figures.layers, figures.cost);
  add_distributions(json, figures.acceptance);
  json["breakdown"] = breakdown_json(figures.breakdown);
  json["device"] = device_json(figures.device);
  json["speedup"] = figures.speedup ? speedup_json(*figures.speedup) : Json(nullptr);
  json["identity"] = figures.identity ? identity_json(*figures.identity) : Json(nullptr);
  return json;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const Json& row) {
  std::string line;
  bool is_first = true;
  for (const auto& [key, value] : row.items()) {
    if (!is_first) line += ',';
    is_first = false;
    if (value.is_string())
      line += csv_field(value.get<std::string>());
    else if (!value.is_null())
      line += value.dump();
  }
  return line + '\n';
}

std::string csv_header(const Json& row) {
  std::string line;
  for (const auto& [key, value] : row.items()) line += (line.empty() ? "" : ",") + csv_field(key);
  return line + '\n';
}

}  // namespace draftscope::cli
