// SPDX-License-Identifier: GPL-3.0-or-later
#include "advice_report.h"

#include <draftscope/base/shell_words.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace draftscope::gui {

namespace {

Result<simulator::Answer> answer_for(const simulator::WhatIf& what_if, const std::string& strategy,
                                     const simulator::Machine& machine, std::int32_t longer_context) {
  DRAFTSCOPE_TRY_ASSIGN(simulator::StrategyRounds rounds, what_if.rounds(strategy, machine));
  if (longer_context > 0) simulator::lengthen_context(rounds, longer_context);
  const simulator::CostModel& costs = what_if.costs().model;
  rounds = simulator::for_shape(std::move(rounds), costs.shape, machine.scenario.shape);
  return simulator::ask(costs, rounds, machine, {});
}

/// A refusal has its reason in the result.
AskedSetting ask_setting(const simulator::WhatIf& what_if, const std::string& strategy,
                         const simulator::Machine& machine, std::int32_t longer_context) {
  AskedSetting asked{.strategy = strategy};
  const auto answer = answer_for(what_if, strategy, machine, longer_context);
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

/// Receives the number of points done and in total; if it returns false, the curve ends there.
using CurveProgress = std::function<bool(std::int64_t done, std::int64_t all)>;

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
    if (!progress(++done, static_cast<std::int64_t>(places.size()))) break;
  }
  if (!made.points.empty()) made.refusal.clear();
  return made;
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

constexpr int candidates_end = 450;  // End of each stage, in thousandths.
constexpr int judged_end = 800;
constexpr int listed_end = 900;

/// Reports one stage as a share of the whole.
class Stage {
 public:
  Stage(const AdviceProgress& progress, int first, int last)
      : progress_(progress), first_(first), last_(last) {}
  [[nodiscard]] bool operator()(std::int64_t done, std::int64_t all) const {
    if (!progress_) return true;
    const std::int64_t part = (last_ - first_) * std::min(done, all) / std::max<std::int64_t>(all, 1);
    return progress_(first_ + static_cast<int>(part));
  }

 private:
  const AdviceProgress& progress_;
  int first_;
  int last_;
};

std::string kind_of(const simulator::RankedCandidate& candidate) {
  if (candidate.setting) return candidate.setting->threshold ? "early exit, threshold" : "early exit, length";
  return candidate.strategy.substr(0, candidate.strategy.find(':'));
}

/// Lists settings in the order of their calls, each once.
class Lister {
 public:
  Lister(const TrainedRecording& trained, const simulator::WhatIf& what_if, AdviceReport& report)
      : trained_(trained), what_if_(what_if), report_(report) {}

  Result<void> list(const Stage& stage) {
    const simulator::Advice& advice = report_.advice;
    add(advice.fastest, SettingRole::fastest, advice.setting);
    if (advice.runner_up)
      add(advice.runner_up->strategy, SettingRole::runner_up, known(advice.runner_up->strategy));
    for (const simulator::Neighbour& neighbour : advice.neighbours) {
      add(neighbour.strategy, SettingRole::neighbour, known(neighbour.strategy));
      if (waiting_.back().asked.strategy == neighbour.strategy) waiting_.back().change = neighbour.change;
    }
    for (const std::string& strategy : trained_.strategies())
      add(strategy, SettingRole::recorded, known(strategy));
    std::set<std::string> kinds;
    for (const simulator::RankedCandidate& candidate : advice.ranking)
      if (kinds.insert(kind_of(candidate)).second)
        add(candidate.strategy, SettingRole::best_of_kind, candidate.setting);
    constexpr std::size_t max_close = 10;
    for (std::size_t i = 0; i < std::min(max_close, advice.ranking.size()); ++i)
      add(advice.ranking[i].strategy, SettingRole::close, advice.ranking[i].setting);
    return ask_all(stage);
  }

 private:
  [[nodiscard]] bool is_candidate(const std::string& strategy) const {
    return std::ranges::any_of(report_.advice.ranking,
                               [&](const auto& candidate) { return candidate.strategy == strategy; });
  }

  [[nodiscard]] std::optional<simulator::EarlyExitSetting> known(const std::string& strategy) const {
    for (const simulator::RankedCandidate& candidate : report_.advice.ranking)
      if (candidate.strategy == strategy) return candidate.setting;
    return std::nullopt;
  }

  void add(const std::string& strategy, SettingRole role,
           const std::optional<simulator::EarlyExitSetting>& setting) {
    if (!names_.insert(strategy).second) return;
    const std::vector<std::string>& recorded = trained_.strategies();
    ListedSetting& listed = waiting_.emplace_back();
    listed.asked.strategy = strategy;
    listed.role = role;
    listed.setting = setting;
    listed.is_recorded = std::find(recorded.begin(), recorded.end(), strategy) != recorded.end();
    const Considered considered = report_.question.considered;
    const bool is_near = considered == Considered::early_exits && role == SettingRole::neighbour;
    listed.is_outside = considered != Considered::everything && !is_near && !is_candidate(strategy);
  }

  Result<void> ask_all(const Stage& stage) {
    std::int64_t done = 0;
    for (ListedSetting& listed : waiting_) {
      listed.asked = ask_setting(what_if_, listed.asked.strategy, report_.machine,
                                 report_.question.machine.longer_context);
      listed.relative =
          listed.asked.refusal.empty() ? listed.asked.speedup / report_.advice.speedup - 1.0 : 0.0;
      report_.settings.push_back(std::move(listed));
      if (!stage(++done, static_cast<std::int64_t>(waiting_.size()))) return fail("stopped");
    }
    std::stable_sort(report_.settings.begin(), report_.settings.end(),
                     [](const ListedSetting& a, const ListedSetting& b) {
                       const auto rank = [](const ListedSetting& of) {
                         return std::tuple(!of.is_outside, of.asked.refusal.empty(), of.asked.speedup);
                       };
                       return rank(a) > rank(b);
                     });
    return {};
  }

  const TrainedRecording& trained_;
  const simulator::WhatIf& what_if_;
  AdviceReport& report_;
  std::vector<ListedSetting> waiting_;
  std::set<std::string> names_;
};

/// Early exit that the curves describe; absent if there is none. If the advised setting is no early exit, it
/// has neither threshold nor length to vary: then the fastest early exit stands in.
std::optional<simulator::EarlyExitSetting> curve_setting(const TrainedRecording& trained,
                                                         const AdviceReport& report) {
  for (const RecordedPoint& point : trained.points())
    if (point.strategy == report.question.curves_of)
      return simulator::EarlyExitSetting{.exit = point.exit,
                                         .gamma = point.gamma,
                                         .verified_layers = point.verifies_above_exit
                                                                ? simulator::VerifiedLayers::above_exit
                                                                : simulator::VerifiedLayers::all};
  if (report.advice.setting) return report.advice.setting;
  for (const simulator::RankedCandidate& candidate : report.advice.ranking)
    if (candidate.setting) return candidate.setting;
  return std::nullopt;
}

Result<void> draw_curves(const TrainedRecording& trained, const simulator::WhatIf& what_if,
                         AdviceReport& report, const AdviceProgress& progress) {
  const std::optional<simulator::EarlyExitSetting> setting = curve_setting(trained, report);
  if (!setting) {
    report.thresholds.refusal = report.lengths.refusal = "no early exit was considered";
    return {};
  }
  const std::int32_t context = report.question.machine.longer_context;
  bool is_stopped = false;
  constexpr int half = (listed_end + 1000) / 2;
  const auto told = [&](const Stage& stage) {
    return [&is_stopped, stage](std::int64_t done, std::int64_t all) {
      is_stopped = !stage(done, all);
      return !is_stopped;
    };
  };
  report.thresholds =
      threshold_curve(what_if, *setting, report.machine, context, told(Stage(progress, listed_end, half)));
  if (is_stopped) return fail("stopped");
  report.lengths =
      length_curve(what_if, *setting, report.machine, context, told(Stage(progress, half, 1000)));
  if (is_stopped) return fail("stopped");
  if (report.question.curves_of.empty() && !report.advice.setting)
    report.thresholds.stands_in_for = report.lengths.stands_in_for = report.advice.fastest;
  return {};
}

}  // namespace

Result<AdviceReport> advice_of(const TrainedRecording& trained, const AdviceQuestion& question,
                               const AdviceProgress& progress) {
  DRAFTSCOPE_TRY(simulator::check_can_be_advised_on(trained.recording(), trained.opened()->name()));
  AdviceReport report{.question = question};
  DRAFTSCOPE_TRY_ASSIGN(const WhatIfPointer what_if, trained.what_if(question.machine));
  DRAFTSCOPE_TRY_ASSIGN(report.machine, machine_of(question.machine, what_if->recorded_scenario()));
  simulator::CandidateOptions grid;
  grid.strategies = question.strategies;
  grid.considered = question.considered;
  grid.progress = Stage(progress, 0, candidates_end);
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Candidates found,
                        simulator::candidates(*what_if, trained.recording(), grid));
  simulator::AdviceOptions options;
  options.longer_context = question.machine.longer_context;
  options.waterfall.progress = Stage(progress, candidates_end, judged_end);
  DRAFTSCOPE_TRY_ASSIGN(report.advice,
                        simulator::advise(*what_if, trained.recording(), found, report.machine, options));
  DRAFTSCOPE_TRY(Lister(trained, *what_if, report).list(Stage(progress, judged_end, listed_end)));
  DRAFTSCOPE_TRY(draw_curves(trained, *what_if, report, progress));
  return report;
}

Question question_about(const AdviceReport& report, const ListedSetting& listed) {
  Question question = report.question.machine;
  question.kind = StrategyKind::recorded;
  question.recorded = listed.asked.strategy;
  if (!listed.setting) return question;
  question.exit = listed.setting->exit;
  question.gamma = listed.setting->gamma;
  question.threshold = listed.setting->threshold.value_or(question.threshold);
  question.verifies_above_exit = listed.setting->verified_layers == simulator::VerifiedLayers::above_exit;
  if (listed.is_recorded) return question;
  Question by_sliders = question;
  by_sliders.kind = listed.setting->threshold ? StrategyKind::threshold : StrategyKind::fixed_length;
  by_sliders.recorded.clear();
  // If the recording does not say how a run verified, names may differ; then ask about the run by its name.
  return strategy_of(by_sliders) == listed.asked.strategy ? by_sliders : question;
}

std::string command_line_of(const AdviceQuestion& question, const std::string& file) {
  std::string line = "draftscope advise " + quoted_word(file);
  for (const std::string& strategy : question.strategies) line += " --strategy " + quoted_word(strategy);
  if (question.considered != Considered::everything)
    line.append(" --consider ").append(considered_name(question.considered));
  return line + machine_options_of(question.machine);
}

}  // namespace draftscope::gui
