// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/answers/simulate_waterfall.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/report_json.h"
#include "terminal/numbers.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::StrategyShare;
using simulator::WaterfallFigure;
using simulator::WaterfallStep;

Json figure_json(const WaterfallFigure& figure) {
  return {{"value", figure.value}, {"interval_95", interval_json(figure.interval)}};
}

Json level_json(const WaterfallStep& step) {
  return {{"level", waterfall_level_name(step.level)},
          {"status", answer_status_name(step.status)},
          {"speedup", figure_json(step.speedup)},
          {"of_oracle", figure_json(step.of_oracle)},
          {"efficiency", step.efficiency ? figure_json(*step.efficiency) : Json(nullptr)},
          {"bounds", interval_json(step.bounds)}};
}

Json share_json(const StrategyShare& share) {
  const auto& interval = share.of_oracle.interval_95;
  return {{"strategy", share.strategy},
          {"rounds_source", round_source_name(share.source)},
          {"status", answer_status_name(share.status)},
          {"speedup", share.speedup},
          {"speedup_max_drafted", json_or_null(share.speedup_max_drafted)},
          {"of_oracle", {{"value", share.of_oracle.value}, {"interval_95", interval_json(interval)}}},
          {"efficiency", json_or_null(share.efficiency)},
          {"is_bounded", share.is_bounded}};
}

Json machine_waterfall_json(const MachineWaterfall& machine) {
  const simulator::RecordingWaterfall& found = machine.found;
  const simulator::Waterfall& waterfall = found.waterfall;
  const bool above_exit = found.verified_layers == simulator::VerifiedLayers::above_exit;
  Json json{{"machine", machine.machine},
            {"batch", machine.batch},
            {"mean_context", found.mean_context},
            {"verified_layers", above_exit ? "above-exit" : "all-layers"},
            {"prompts", waterfall.steps.front().times_ns.size()},
            {"folds", waterfall.folds},
            {"price_tokens_per_second", 1e9 * waterfall.price}};
  const simulator::ConfidenceThreshold& rule = waterfall.threshold;
  json["best_threshold"] = Json(nullptr);
  if (rule.exit > 0)
    json["best_threshold"] = {{"exit", rule.exit}, {"gamma", rule.longest}, {"threshold", rule.threshold}};
  const auto setting_json = [&](std::size_t place) {
    const simulator::FixedSetting& setting = waterfall.settings[place];
    return setting.length == 0 ? Json(nullptr) : Json{{"exit", setting.exit}, {"gamma", setting.length}};
  };
  json["best_setting"] = setting_json(waterfall.best.global);
  Json& by_category = json["best_by_category"] = Json::array();
  for (const auto& [category, place] : waterfall.best.by_category)
    by_category.push_back({{"category", category}, {"setting", setting_json(place)}});
  json["levels"] = json_list(waterfall.steps, level_json);
  Json& gaps = json["gaps"] = Json::object();
  for (const simulator::NamedGap& gap : named_gaps(waterfall.gaps))
    gaps[std::string(gap.name)] = figure_json(gap.figure);
  json["strategies"] = json_list(found.strategies, share_json);
  json["notes"] = found.notes;
  return json;
}

}  // namespace

Result<Waterfalls> make_waterfalls(const simulator::WhatIf& what_if, const traces::Recording& recording,
                                   const std::vector<std::string>& strategies,
                                   const std::vector<simulator::Machine>& machines,
                                   std::int32_t longer_context,
                                   const std::function<void(std::int64_t)>& progress) {
  Waterfalls result{.recording = &recording, .machines = {}, .refusals = {}};
  std::vector<simulator::StrategyRounds> asked;
  for (const std::string& strategy : strategies) {
    auto rounds = what_if.rounds(strategy);
    if (rounds)
      asked.push_back(*std::move(rounds));
    else
      result.refusals.push_back({strategy, "", rounds.error().message});
  }
  for (const simulator::Machine& machine : machines) {
    for (simulator::StrategyRounds& rounds : asked)
      if (simulator::goes_by_times(rounds.strategy)) {
        DRAFTSCOPE_TRY_ASSIGN(rounds, what_if.rounds(rounds.strategy, machine));
      }
    auto found = recording_waterfall(what_if, recording, machine, asked, longer_context);
    if (!found) {
      result.refusals.push_back({"", machine.name, found.error().message});
    } else {
      for (const simulator::UnsharedStrategy& unshared : found->unshared)
        result.refusals.push_back({unshared.strategy, machine.name, unshared.reason});
      result.machines.push_back({machine.name, machine.scenario.batch, *std::move(found)});
    }
    progress(static_cast<std::int64_t>(&machine - machines.data()) + 1);
  }
  if (result.machines.empty()) return fail("{}", result.refusals.back().reason);
  return result;
}

std::string waterfall_json(const Waterfalls& waterfalls) {
  Json json = new_document();
  json["recording"] = waterfalls.recording->path.filename().string();
  json["waterfalls"] = json_list(waterfalls.machines, machine_waterfall_json);
  json["refusals"] = refusals_json(waterfalls.refusals);
  return json_text(json);
}

namespace {

std::optional<double> value_of(const std::optional<WaterfallFigure>& figure) {
  return figure ? std::optional(figure->value) : std::nullopt;
}

std::string levels_text(const simulator::Waterfall& waterfall, const Glyphs& glyphs) {
  Table table({"level", "rounds"}, {"speedup", "95 %", "of oracle", "efficiency"}, {""});
  const double oracle = step_at(waterfall, simulator::WaterfallLevel::oracle).speedup.value;
  for (const WaterfallStep& step : waterfall.steps)
    table.add_row({std::string(waterfall_level_name(step.level)),
                   std::string(answer_status_name(step.status)), factor(step.speedup.value, glyphs),
                   range(step.speedup.interval, glyphs), percent(step.of_oracle.value),
                   percent(value_of(step.efficiency), glyphs),
                   bar(step.speedup.value / oracle, bar_width, glyphs)});
  return table.text(2, glyphs.columns);
}

std::string gaps_text(const simulator::Waterfall& waterfall, const Glyphs& glyphs) {
  Table table({"gap", ""}, {"speedup", "95 %"});
  for (const simulator::NamedGap& gap : named_gaps(waterfall.gaps))
    table.add_row({std::string(gap.name), std::string(simulator::gap_meaning(gap.name)),
                   signed_text(gap.figure.value, 2, glyphs.characters()),
                   range(gap.figure.interval, glyphs)});
  return "  What it costs not to know, and not to be free\n" + table.text(4, glyphs.columns);
}

std::string strategies_text(const simulator::RecordingWaterfall& found, const Glyphs& glyphs) {
  if (found.strategies.empty()) return "";
  Table table({"strategy", "rounds"}, {"speedup", "of oracle", "95 %", "efficiency"}, {""});
  bool all_bounded = true;
  for (const StrategyShare& share : found.strategies) {
    all_bounded = all_bounded && share.is_bounded;
    std::string speedup = factor(share.speedup, glyphs);
    if (share.speedup_max_drafted)
      speedup = speedups_text(share.speedup, *share.speedup_max_drafted, glyphs.characters());
    table.add_row({printable(share.strategy) + (share.is_bounded ? "" : " *"),
                   fmt::format("{}, {}", round_source_name(share.source), answer_status_name(share.status)),
                   speedup, percent(share.of_oracle.value), range(share.of_oracle.interval_95, glyphs),
                   percent(share.efficiency, glyphs), bar(share.of_oracle.value, bar_width, glyphs)});
  }
  std::string text = "  Strategies as shares of the oracle\n" + table.text(4, glyphs.columns);
  if (!all_bounded) text += fmt::format("    * {}\n", simulator::no_bound_note());
  return text;
}

std::string machine_text(const MachineWaterfall& machine, const Glyphs& glyphs) {
  const bool above_exit = machine.found.verified_layers == simulator::VerifiedLayers::above_exit;
  std::string notes;
  for (const std::string& note : waterfall_notes(machine.found, machine.batch))
    notes += "  " + printable(note) + '\n';
  return fmt::format("{}: {}, early exits, verification of {} (times modelled)\n", printable(machine.machine),
                     counted(machine.found.waterfall.steps.front().times_ns.size(), "prompt"),
                     above_exit ? "what is above the exit" : "all layers") +
         levels_text(machine.found.waterfall, glyphs) + gaps_text(machine.found.waterfall, glyphs) +
         strategies_text(machine.found, glyphs) + notes;
}

}  // namespace

std::string waterfall_text(const Waterfalls& waterfalls, bool quiet, const Glyphs& glyphs) {
  std::string text;
  for (const MachineWaterfall& machine : waterfalls.machines)
    text += (text.empty() ? "" : "\n") + machine_text(machine, glyphs);
  if (quiet) return text;
  for (const Refusal& refusal : waterfalls.refusals) {
    std::string about = refusal.machine.empty() ? "" : printable(refusal.machine) + ": ";
    text += "  no answer: " + about + printable(refusal.reason) + '\n';
  }
  return text;
}

}  // namespace draftscope::cli
