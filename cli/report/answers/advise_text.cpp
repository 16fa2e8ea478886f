// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/advise_text.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/answers/advice_text.h>
#include <draftscope/simulator/answers/answer_figures.h>

#include <fmt/format.h>
#include <array>

#include "report/report_json.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

std::string line(std::string_view about, const std::string& text) {
  return fmt::format("  {:<11} {}\n", about, printable(text));
}

}  // namespace

std::string advise_text(const Advices& advices, bool quiet, const Glyphs& glyphs) {
  std::string text;
  for (const simulator::Advice& advice : advices.machines) {
    if (!text.empty()) text += '\n';
    text += printable(advice_headline(advice)) + '\n';
    for (const simulator::AdviceLine& said : advice_lines(advice, glyphs.characters()))
      text += line(said.about, said.words);
    if (quiet) continue;
    for (const std::string& reason : advice.left_out) text += line("left out", reason);
  }
  if (quiet) return text;
  for (const Refusal& refusal : advices.refusals)
    text += line("no answer", refusal.machine + ": " + refusal.reason);
  return text;
}

namespace {

using simulator::Advice;

Json estimate_json(const simulator::RatioEstimate& estimate) {
  return {{"value", estimate.value}, {"interval_95", interval_json(estimate.interval_95)}};
}

/// Figures of the fastest candidate's answer. Its speedup is not among them, since the advice uses the slower
/// bound.
constexpr std::array<std::string_view, 9> answer_keys{"decode_tokens_per_second",
                                                      "vanilla_decode_tokens_per_second",
                                                      "mean_accepted_length",
                                                      "tokens_per_round",
                                                      "acceptance_rate",
                                                      "draft_steps_per_round",
                                                      "draft_cost",
                                                      "verify_cost",
                                                      "overhead"};

Json fastest_json(const Advice& advice) {
  const simulator::Answer& answer = advice.answer;
  Json json{{"strategy", advice.fastest},
            {"exit", nullptr},
            {"exit_there", json_or_null(advice.exit_there)},
            {"gamma", nullptr},
            {"threshold", nullptr},
            {"rounds_source", round_source_name(answer.source)},
            {"status", answer_status_name(answer.status)},
            {"speedup", advice.speedup},
            {"interval_95", interval_json(advice.interval_95)}};
  for (const std::string_view key : answer_keys) {
    const simulator::FigureOf<simulator::Answer>& figure = simulator::answer_figure(key);
    const std::array named{simulator::NamedFigure{figure.key, figure.format, figure.get(answer)}};
    simulator::add_figures(json, named);
  }
  json["notes"] = answer.notes;
  if (!advice.setting) return json;
  json["exit"] = advice.setting->exit;
  json["gamma"] = advice.setting->gamma;
  json["threshold"] = json_or_null(advice.setting->threshold);
  return json;
}

Json limits_json(const Advice& advice) {
  Json json = Json::object();
  json["batch"] = {{"last", advice.batch.last},
                   {"searched", advice.batch.searched},
                   {"is_extrapolated", advice.batch.is_extrapolated}};
  const simulator::ContextLimit& context = advice.context;
  json["context"] = {{"more_rows", json_or_null(context.more_rows)},
                     {"strategy", context.more_rows ? Json(context.strategy) : Json(nullptr)},
                     {"gain", context.gain},
                     {"searched", context.searched},
                     {"is_extrapolated", context.is_extrapolated}};
  Json& gaps = json["gaps"] = advice.gaps ? Json::object() : Json(nullptr);
  if (!advice.gaps) return json;
  for (const simulator::NamedGap& gap : named_gaps(*advice.gaps)) {
    const auto& interval = gap.figure.interval;
    gaps[std::string(gap.name)] = {{"value", gap.figure.value}, {"interval_95", interval_json(interval)}};
  }
  return json;
}

Json advice_json(const Advice& advice) {
  Json json{{"machine", advice.machine},
            {"verdict", verdict_name(advice.verdict)},
            {"strategy", advice.strategy},
            {"reason", advice.reason},
            {"among", considered_name(advice.among)},
            {"besides", advice.besides},
            {"considered", advice.considered},
            {"prompts", advice.answer.speedup.min_drafted.clusters}};
  json["fastest"] = fastest_json(advice);
  json["held_out"] = estimate_json(advice.held_out.speedup);
  json["held_out"]["folds"] = advice.held_out.folds;
  json["measured"] = nullptr;
  if (advice.measured)
    json["measured"] = {{"value", advice.measured->run.speedup},
                        {"interval_95", interval_json(advice.measured->run.interval_95)}};
  json["runner_up"] = nullptr;
  if (advice.runner_up)
    json["runner_up"] = {{"strategy", advice.runner_up->strategy},
                         {"speedup", advice.runner_up->speedup},
                         {"lead", estimate_json(advice.runner_up->lead)}};
  json["by_category"] = json_list(advice.by_category, [](const simulator::CategoryChoice& choice) -> Json {
    return {{"category", choice.category}, {"strategy", choice.strategy}, {"speedup", choice.speedup}};
  });
  json["break_even"] = nullptr;
  if (advice.break_even)
    json["break_even"] = {{"mean_accepted_length", advice.break_even->mean_accepted_length},
                          {"acceptance_rate", advice.break_even->acceptance_rate},
                          {"alpha", json_or_null(advice.break_even->alpha)}};
  json["neighbours"] = json_list(advice.neighbours, [](const simulator::Neighbour& neighbour) -> Json {
    return {{"change", neighbour.change}, {"strategy", neighbour.strategy}, {"relative", neighbour.relative}};
  });
  json["near_ties"] = nullptr;
  if (advice.near_ties)
    json["near_ties"] = {{"margin", simulator::near_tie_margin},
                         {"at_risk", advice.near_ties->at_risk},
                         {"positions", advice.near_ties->positions},
                         {"speedup_rejected", advice.near_ties->rejected},
                         {"speedup_accepted", advice.near_ties->accepted}};
  json["limits"] = limits_json(advice);
  json["to_record"] = advice.to_record;
  json["left_out"] = advice.left_out;
  return json;
}

}  // namespace

std::string advise_json(const Advices& advices) {
  Json json = new_document();
  json["recording"] = advices.recording->path.filename().string();
  json["advice"] = json_list(advices.machines, advice_json);
  json["refusals"] = refusals_json(advices.refusals);
  return json_text(json);
}

}  // namespace draftscope::cli
