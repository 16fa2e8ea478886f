// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/explain_text.h"
#include "report/report_json_parts.h"

namespace draftscope::cli {

namespace {

using simulator::Diagnosis;
using simulator::Finding;
using simulator::RoundAccount;

Json round_json(const RoundAccount& round) {
  Json json{{"rounds", round.rounds},
            {"unit", round_unit_name(round.unit)},
            {"unit_ns", round.unit_ns > 0.0 ? Json(round.unit_ns) : Json(nullptr)},
            {"takes", json_or_null(round.takes)},
            {"parts", nullptr},
            {"yields", json_or_null(round.yields)},
            {"speedup", json_or_null(round.speedup)},
            {"has_prefill", round.has_prefill},
            {"rows", json_or_null(round.rows)},
            {"kept", json_or_null(round.kept)},
            {"speedup_with_free_rows", json_or_null(round.speedup_with_free_rows)}};
  if (round.parts)
    json["parts"] = {{"draft", round.parts->draft},
                     {"verify", round.parts->verify},
                     {"decide", round.parts->decide},
                     {"accept", round.parts->accept},
                     {"outside", round.parts->outside}};
  return json;
}

Json simulated_json(const Finding& finding) {
  Json json{{"sentence", finding.simulation}, {"answer", nullptr}};
  if (!finding.simulated) return json;
  const auto& interval = finding.simulated->interval_95;
  json["answer"] = {{"strategy", finding.simulated->strategy},
                    {"status", answer_status_name(finding.simulated->status)},
                    {"speedup", finding.simulated->speedup},
                    {"interval_95", interval ? Json::array({interval->low, interval->high}) : Json(nullptr)}};
  return json;
}

Json finding_json(const Finding& finding) {
  Json json{{"key", finding.row->key}, {"title", finding.row->title}, {"sentence", finding.sentence}};
  json["figure"] = {{"meaning", finding.row->figure}, {"value", finding.figure}};
  json["judged_by"] = {
      {"rule", finding.row->threshold}, {"value", finding.threshold}, {"because", finding.row->because}};
  json["cost"] = {{"sentence", finding.cost_sentence},
                  {"per_round", json_or_null(finding.cost)},
                  {"share", json_or_null(finding.cost_share)},
                  {"speedup_without", json_or_null(finding.speedup_without)}};
  json["look"] = finding.row->look;
  json["try"] = finding.row->remedy;
  json["simulated"] = simulated_json(finding);
  return json;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  Json json = Json::object();
  add_run(json, *diagnosis.run);
  json["summary"] = diagnosis.summary;
  json["round"] = round_json(diagnosis.round);
  json["findings"] = Json::array();
  json["not_judged"] = Json::array();
  for (const Finding& finding : diagnosis.findings) json["findings"].push_back(finding_json(finding));
  for (const simulator::Unjudged& check : diagnosis.unjudged)
    json["not_judged"].push_back(
        {{"key", check.row->key}, {"title", check.row->title}, {"reason", check.reason}});
  return json;
}

}  // namespace

std::string explain_json(const std::vector<ExplainedRecording>& recordings) {
  Json json = new_document();
  Json& all = json["recordings"] = Json::array();
  for (const ExplainedRecording& recording : recordings) {
    Json one{{"recording", recording_json(*recording.measured)}, {"runs", Json::array()}};
    for (const Diagnosis& diagnosis : recording.diagnoses) one["runs"].push_back(diagnosis_json(diagnosis));
    all.push_back(std::move(one));
  }
  return json_text(json);
}

}  // namespace draftscope::cli
