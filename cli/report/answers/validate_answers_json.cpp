// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/validate_answers.h"

#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/figure_tables.h>
#include <draftscope/simulator/answers/answer_figures.h>

namespace draftscope::cli {

namespace {

using simulator::CheckedAnswer;
using simulator::ErrorMean;

Json answer_json(const CheckedAnswer& answer) {
  Json json = Json::object();
  json["kind"] = question_kind_key(answer.kind);
  json["held_out"] = answer.held_out;
  json["strategy"] = answer.strategy;
  json["measured"] = simulator::figures_object(simulator::measured_decoding_figures(), answer.measured);
  json["predicted"] =
      answer.predicted ? simulator::figures_object(simulator::predicted_decoding_figures(), *answer.predicted)
                       : Json(nullptr);
  json["error"] = json_or_null(answer.error());
  json["inside_80"] = json_or_null(answer.inside_80());
  json["inside_95"] = json_or_null(answer.inside_95());
  json["rounds"] = {{"match", round_match_name(answer.rounds.match)},
                    {"requests", answer.rounds.requests},
                    {"first_difference", answer.rounds.first_difference}};
  json["refusal"] = answer.refusal;
  json["notes"] = answer.notes;
  return json;
}

Json mean_json(const ErrorMean& mean) {
  if (mean.count == 0) return nullptr;
  return {{"count", mean.count},
          {"mean_error", mean.mean_absolute},
          {"max_error", mean.greatest},
          {"bias", mean.bias}};
}

Json csv_row(const CheckedAnswer& answer) {
  using Number = std::optional<double>;
  const auto predicted = [&](auto member) {
    return json_or_null(answer.predicted ? Number((*answer.predicted).*member) : Number());
  };
  const auto end_of = [&](auto member, auto end) {
    if (!answer.predicted || !((*answer.predicted).*member)) return Json(nullptr);
    return Json((*((*answer.predicted).*member)).*end);
  };
  using simulator::Interval;
  using simulator::PredictedDecoding;
  Json row = Json::object();
  row["kind"] = question_kind_key(answer.kind);
  row["held_out"] = answer.held_out;
  row["strategy"] = answer.strategy;
  row["measured_speedup"] = answer.measured.speedup;
  row["predicted_speedup"] = predicted(&PredictedDecoding::speedup);
  row["error"] = json_or_null(answer.error());
  row["interval_80_low"] = end_of(&PredictedDecoding::interval_80, &Interval::low);
  row["interval_80_high"] = end_of(&PredictedDecoding::interval_80, &Interval::high);
  row["interval_95_low"] = end_of(&PredictedDecoding::interval_95, &Interval::low);
  row["interval_95_high"] = end_of(&PredictedDecoding::interval_95, &Interval::high);
  row["inside_80"] = json_or_null(answer.inside_80());
  row["inside_95"] = json_or_null(answer.inside_95());
  row["measured_target_step_ns"] = answer.measured.vanilla_step_ns;
  row["predicted_target_step_ns"] = predicted(&PredictedDecoding::vanilla_step_ns);
  row["measured_draft_step_ns"] = answer.measured.draft_step_ns;
  row["predicted_draft_step_ns"] = predicted(&PredictedDecoding::draft_step_ns);
  row["measured_verify_ns"] = answer.measured.verify_ns;
  row["predicted_verify_ns"] = predicted(&PredictedDecoding::verify_ns);
  row["status"] = answer.predicted ? Json(answer_status_name(answer.predicted->status)) : Json(nullptr);
  row["rounds_source"] = answer.predicted ? Json(round_source_name(answer.predicted->source)) : Json(nullptr);
  row["rounds_match"] = round_match_name(answer.rounds.match);
  row["refusal"] = answer.refusal;
  return row;
}

}  // namespace

Json answers_json(std::span<const CheckedAnswer> answers) {
  Json json = Json::array();
  for (const CheckedAnswer& answer : answers) json.push_back(answer_json(answer));
  return json;
}

Json kinds_json(std::span<const simulator::KindErrors> kinds) {
  Json json = Json::array();
  for (const simulator::KindErrors& errors : kinds)
    json.push_back({{"kind", question_kind_key(errors.kind)},
                    {"questions", errors.questions},
                    {"speedup", mean_json(errors.speedup)},
                    {"repeat_deviation", json_or_null(errors.repeat_deviation)},
                    {"target_step", mean_json(errors.vanilla_step)},
                    {"draft_step", mean_json(errors.draft_step)},
                    {"verify", mean_json(errors.verify)},
                    {"intervals", errors.intervals},
                    {"inside_80", errors.inside_80},
                    {"inside_95", errors.inside_95},
                    {"compared_rounds", errors.compared_rounds},
                    {"matching_rounds", errors.matching_rounds}});
  return json;
}

Json bounds_json(std::span<const ErrorBound> bounds) {
  Json json = Json::array();
  for (const ErrorBound& bound : bounds)
    json.push_back({{"kind", question_kind_key(bound.kind)},
                    {"found", bound.found},
                    {"limit", bound.limit},
                    {"held", bound.held()}});
  return json;
}

std::string answers_csv(std::span<const CheckedAnswer> answers) {
  std::string text;
  for (const CheckedAnswer& answer : answers) {
    const Json row = csv_row(answer);
    if (text.empty()) text = csv_header(row);
    text += csv_line(row);
  }
  return text;
}

}  // namespace draftscope::cli
