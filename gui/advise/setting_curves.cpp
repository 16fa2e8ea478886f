// SPDX-License-Identifier: GPL-3.0-or-later
#include "setting_curves.h"

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

Result<simulator::Answer> answer_for(const simulator::WhatIf& what_if, const std::string& strategy,
                                     const simulator::Machine& machine, std::int32_t longer_context,
                                     const simulator::PredictionOptions& draws) {
  DRAFTSCOPE_TRY_ASSIGN(simulator::StrategyRounds rounds, what_if.rounds(strategy, machine));
  if (longer_context > 0) simulator::lengthen_context(rounds, longer_context);
  const simulator::CostModel& costs = what_if.costs().model;
  rounds = simulator::for_shape(std::move(rounds), costs.shape, machine.scenario.shape);
  return simulator::ask(costs, rounds, machine, draws);
}

template <typename SettingAt>
SettingCurve curve(const simulator::WhatIf& what_if, const simulator::Machine& machine,
                   std::int32_t longer_context, const std::vector<double>& places,
                   const SettingAt& setting_at, const CurveProgress& progress) {
  SettingCurve made;
  std::int64_t done = 0;
  for (const double at : places) {
    AskedSetting asked =
        ask_setting(what_if, simulator::specification(setting_at(at)), machine, longer_context);
    if (asked.refusal.empty())
      made.points.push_back({at, std::move(asked)});
    else if (made.refusal.empty())
      made.refusal = asked.refusal;
    if (progress && !progress(++done, static_cast<std::int64_t>(places.size()))) break;
  }
  if (!made.points.empty()) made.refusal.clear();
  return made;
}

}  // namespace

AskedSetting ask_setting(const simulator::WhatIf& what_if, const std::string& strategy,
                         const simulator::Machine& machine, std::int32_t longer_context,
                         const simulator::PredictionOptions& draws) {
  AskedSetting asked{.strategy = strategy};
  const auto answer = answer_for(what_if, strategy, machine, longer_context, draws);
  if (!answer) {
    asked.refusal = answer.error().message;
    return asked;
  }
  asked.status = answer->status;
  asked.speedup = answer->speedup.lower();
  asked.interval_95 = answer->speedup.interval_95();
  asked.mean_accepted_length = answer->mean_accepted_length;
  asked.acceptance_rate = answer->acceptance_rate;
  return asked;
}

SettingCurve threshold_curve(const simulator::WhatIf& what_if, simulator::EarlyExitSetting setting,
                             const simulator::Machine& machine, std::int32_t longer_context,
                             const CurveProgress& progress) {
  constexpr int steps = 20;
  std::vector<double> places;
  for (int step = 0; step <= steps; ++step) places.push_back(static_cast<double>(step) / steps);
  SettingCurve made = curve(
      what_if, machine, longer_context, places,
      [&](double at) {
        setting.threshold = at;
        return setting;
      },
      progress);
  setting.threshold.reset();
  made.of = setting;
  return made;
}

SettingCurve length_curve(const simulator::WhatIf& what_if, simulator::EarlyExitSetting setting,
                          const simulator::Machine& machine, std::int32_t longer_context,
                          const CurveProgress& progress) {
  std::vector<double> places;
  for (int length = 1; length <= longest_on_curve; ++length) places.push_back(length);
  SettingCurve made = curve(
      what_if, machine, longer_context, places,
      [&](double at) {
        setting.gamma = static_cast<std::int32_t>(at);
        return setting;
      },
      progress);
  made.of = setting;
  return made;
}

}  // namespace draftscope::gui
