// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/figure_tables.h>
#include <draftscope/simulator/answers/answer_figures.h>

#include <fmt/format.h>
#include <algorithm>

#include "report/answers/validate_answers.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

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

namespace {

using simulator::KindErrors;

/// Text like "+2.1 %".
std::string signed_percent(const std::optional<double>& share, const Glyphs& glyphs) {
  return share ? signed_text(100.0 * *share, 1, glyphs.characters()) + " %" : std::string(glyphs.absent());
}

std::string repeats_cell(const simulator::MeasuredDecoding& measured, const Glyphs& glyphs) {
  if (measured.by_repeat.size() < 2) return std::string(glyphs.absent());
  const auto [low, high] = std::minmax_element(measured.by_repeat.begin(), measured.by_repeat.end());
  return range_text(*low, *high, glyphs.characters());
}

std::string inside_cell(const CheckedAnswer& answer, const Glyphs& glyphs) {
  if (!answer.inside_95()) return std::string(glyphs.absent());
  return answer.inside_80().value_or(false) ? "80 %" : *answer.inside_95() ? "95 %" : "outside";
}

std::string mean_cell(const ErrorMean& mean, const Glyphs& glyphs) {
  return mean.count > 0 ? percent(mean.mean_absolute) : std::string(glyphs.absent());
}

std::string share_cell(std::size_t part, std::size_t all, const Glyphs& glyphs) {
  return all > 0 ? fmt::format("{} of {}", part, all) : std::string(glyphs.absent());
}

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

}  // namespace

std::string answers_table(std::span<const CheckedAnswer> answers, const std::string& held_out,
                          const Glyphs& glyphs) {
  Table table({{"kind", Align::left},
               {held_out, Align::left},
               {"strategy", Align::left},
               {"measured"},
               {"repeats"},
               {"predicted"},
               {"error"},
               {"80 %"},
               {"95 %"},
               {"inside"},
               {"vanilla step"},
               {"draft step"},
               {"verify"},
               {"answer"},
               {"rounds"}});
  for (const CheckedAnswer& answer : answers) {
    std::vector<std::string> cells{std::string(question_kind_name(answer.kind)), printable(answer.held_out),
                                   printable(answer.strategy), factor(answer.measured.speedup, glyphs),
                                   repeats_cell(answer.measured, glyphs)};
    if (answer.predicted) {
      const simulator::PredictedDecoding& predicted = *answer.predicted;
      const auto error = [&](double mine, double truth) {
        return signed_percent(simulator::relative_error(mine, truth), glyphs);
      };
      for (std::string cell :
           {factor(predicted.speedup, glyphs), signed_percent(answer.error(), glyphs),
            range(predicted.interval_80, glyphs), range(predicted.interval_95, glyphs),
            inside_cell(answer, glyphs), error(predicted.vanilla_step_ns, answer.measured.vanilla_step_ns),
            error(predicted.draft_step_ns, answer.measured.draft_step_ns),
            error(predicted.verify_ns, answer.measured.verify_ns),
            fmt::format("{}, {}", round_source_name(predicted.source), answer_status_name(predicted.status)),
            std::string(round_match_name(answer.rounds.match))})
        cells.push_back(std::move(cell));
    } else {
      cells.emplace_back("no answer");
    }
    table.add_row(std::move(cells));
  }
  return table.text(2, glyphs.columns);
}

std::string kinds_table(std::span<const KindErrors> kinds, const Glyphs& glyphs) {
  Table table({{"kind", Align::left},
               {"questions"},
               {"answered"},
               {"mean error"},
               {"worst"},
               {"bias"},
               {"repeats' sd"},
               {"in 80 %"},
               {"in 95 %"},
               {"vanilla step"},
               {"draft step"},
               {"verify"},
               {"rounds told"}});
  for (const KindErrors& errors : kinds)
    table.add_row(
        {std::string(question_kind_name(errors.kind)), fmt::format("{}", errors.questions),
         fmt::format("{}", errors.speedup.count), mean_cell(errors.speedup, glyphs),
         errors.speedup.count > 0 ? percent(errors.speedup.greatest) : std::string(glyphs.absent()),
         signed_percent(errors.speedup.count > 0 ? std::optional(errors.speedup.bias) : std::nullopt, glyphs),
         percent(errors.repeat_deviation, glyphs), share_cell(errors.inside_80, errors.intervals, glyphs),
         share_cell(errors.inside_95, errors.intervals, glyphs), mean_cell(errors.vanilla_step, glyphs),
         mean_cell(errors.draft_step, glyphs), mean_cell(errors.verify, glyphs),
         share_cell(errors.matching_rounds, errors.compared_rounds, glyphs)});
  return table.text(2, glyphs.columns);
}

std::string bounds_table(std::span<const ErrorBound> bounds, const Glyphs& glyphs) {
  if (bounds.empty()) return "";
  Table table({{"bounds", Align::left}, {"mean error"}, {"limit"}, {"", Align::left}});
  for (const ErrorBound& bound : bounds)
    table.add_row({std::string(question_kind_name(bound.kind)), fmt::format("{:.2f} %", 100.0 * bound.found),
                   fmt::format("{:g} %", 100.0 * bound.limit), bound.held() ? "held" : "MISSED"});
  return "\n" + table.text(0, glyphs.columns);
}

std::string answer_notes(std::span<const CheckedAnswer> answers) {
  std::vector<std::string> lines;
  for (const CheckedAnswer& answer : answers) {
    if (!answer.refusal.empty()) add_once(lines, "no answer: " + answer.refusal);
    if (!answer.rounds.first_difference.empty())
      add_once(lines,
               fmt::format("{}, {}: {}", answer.held_out, answer.strategy, answer.rounds.first_difference));
    if (answer.predicted && !answer.predicted->no_interval_reason.empty())
      add_once(lines, "no interval: " + answer.predicted->no_interval_reason);
    for (const std::string& note : answer.notes)
      add_once(lines, fmt::format("{}, {}: {}", answer.held_out, answer.strategy, note));
  }
  std::string text;
  for (const std::string& line : lines) text += "  " + printable(line) + '\n';
  return text;
}

}  // namespace draftscope::cli
