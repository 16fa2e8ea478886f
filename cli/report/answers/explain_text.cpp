// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/report_json.h"
#include "report/reports.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

constexpr std::size_t max_columns = 100;

std::size_t columns_of(const Glyphs& glyphs) {
  return std::min(glyphs.columns, max_columns);
}

/// Lines of the header, wrapped with their labels in front.
std::string wrapped_header(const simulator::MeasuredRecording& measured, const Glyphs& glyphs) {
  constexpr std::size_t label_columns = 11;
  const std::string header = header_text(measured, glyphs);
  std::string text;
  for (std::string_view rest = header; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    text += wrapped(line.substr(0, label_columns), line.substr(std::min(label_columns, line.size())),
                    columns_of(glyphs));
  }
  return text;
}

/// Line of the header about the basis of all speedups; empty without one.
std::string basis_line(const std::vector<simulator::Diagnosis>& diagnoses) {
  const auto first =
      std::ranges::find_if(diagnoses, [](const auto& of) { return of.round.speedup.has_value(); });
  if (first == diagnoses.end()) return {};
  return fmt::format("speedups   {}, over vanilla decoding\n",
                     first->round.has_prefill ? "with the prefill" : "after the first token");
}

std::string finding_text(std::size_t number, const simulator::Finding& finding, bool quiet,
                         std::size_t columns) {
  const std::string head = fmt::format("  {}. ", number);
  const std::string indent(head.size(), ' ');
  std::string text = wrapped(head, printable(finding.sentence), columns);
  if (finding.row == &simulator::finding_table().back()) return text;
  text += wrapped(indent, finding.cost_sentence, columns);
  if (quiet) return text;
  const std::string judged = fmt::format("{}: {}", finding.row->figure, finding.row->threshold);
  return text + wrapped(indent + "judged by  ", judged, columns) +
         wrapped(indent + "look at    ", finding.row->look, columns) +
         wrapped(indent + "try        ", finding.remedy, columns) +
         wrapped(indent + "simulate   ", printable(finding.simulation), columns);
}

/// Checks without a verdict, grouped by their reason.
std::string unjudged_text(const simulator::Diagnosis& diagnosis, std::size_t columns) {
  std::vector<std::pair<std::string, std::string>> by_reason;  // Pairs of reason and titles.
  for (const simulator::Unjudged& check : diagnosis.unjudged) {
    const auto known = std::find_if(by_reason.begin(), by_reason.end(),
                                    [&](const auto& entry) { return entry.first == check.reason; });
    if (known == by_reason.end())
      by_reason.emplace_back(check.reason, check.row->title);
    else
      known->second.append(", ").append(check.row->title);
  }
  std::string text;
  for (const auto& [reason, titles] : by_reason)
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", titles, printable(reason));
  return text.empty() ? text : wrapped("  Not judged: ", text + ".", columns);
}

std::string diagnosis_text(const simulator::Diagnosis& diagnosis, bool quiet, const Glyphs& glyphs) {
  const std::size_t columns = columns_of(glyphs);
  std::string text =
      printable(diagnosis.run->specification) + "\n" + wrapped("  ", printable(diagnosis.summary), columns);
  std::size_t number = 0;
  for (const simulator::Finding& finding : diagnosis.findings)
    text += finding_text(++number, finding, quiet, columns);
  return quiet ? text : text + unjudged_text(diagnosis, columns);
}

}  // namespace

std::string wrapped(std::string_view head, std::string_view text, std::size_t columns) {
  std::string lines;
  std::string line(head);
  bool is_empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    if (!is_empty && display_width(line) + 1 + display_width(word) > columns) {
      lines += line + '\n';
      line.assign(display_width(head), ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  return lines + line + '\n';
}

std::string explain_text(const std::vector<ExplainedRecording>& recordings, bool quiet,
                         const Glyphs& glyphs) {
  std::string text;
  for (const ExplainedRecording& recording : recordings) {
    text += (text.empty() ? "" : "\n") + wrapped_header(*recording.measured, glyphs) +
            basis_line(recording.diagnoses);
    if (recording.measured->timeline) text += '\n' + timeline_text(*recording.measured->timeline, glyphs);
    for (const simulator::Diagnosis& diagnosis : recording.diagnoses)
      text += '\n' + diagnosis_text(diagnosis, quiet, glyphs);
  }
  return text;
}

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
  json["try"] = finding.remedy;
  json["simulated"] = simulated_json(finding);
  return json;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  Json json = Json::object();
  add_run(json, *diagnosis.run);
  json["summary"] = diagnosis.summary;
  json["round"] = round_json(diagnosis.round);
  json["faster_run"] = nullptr;
  if (diagnosis.faster)
    json["faster_run"] = {{"specification", diagnosis.faster->run->specification},
                          {"speedup", diagnosis.faster->speedup}};
  json["findings"] = json_list(diagnosis.findings, finding_json);
  json["not_judged"] = json_list(diagnosis.unjudged, [](const simulator::Unjudged& check) -> Json {
    return {{"key", check.row->key}, {"title", check.row->title}, {"reason", check.reason}};
  });
  return json;
}

}  // namespace

std::string explain_json(const std::vector<ExplainedRecording>& recordings) {
  Json json = new_document();
  json["recordings"] = json_list(recordings, [](const ExplainedRecording& recording) {
    Json one{{"recording", recording_json(*recording.measured)},
             {"runs", json_list(recording.diagnoses, diagnosis_json)}};
    add_timeline(one, *recording.measured);
    return one;
  });
  return json_text(json);
}

}  // namespace draftscope::cli
