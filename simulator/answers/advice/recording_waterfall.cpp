// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/recording_waterfall.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/run_specification.h"
#include "answers/advice/prompt_order.h"
#include "rounds/priced_scenario.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

namespace {

using Times = std::vector<double>;

double sum(const Times& times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

/// Whether the strategy drafts with exits of the recorded model, on any machine.
bool drafts_early_exits(const StrategyRounds& rounds) {
  return rounds.drafts.empty();
}

/// Whether the waterfall's verified layers equal the strategy's; always true where nothing is drafted.
bool verifies_as(VerifiedLayers layers, const StrategyRounds& rounds) {
  return rounds.verified_layers == layers ||
         std::all_of(rounds.setting.min_drafted.begin(), rounds.setting.min_drafted.end(),
                     [](const RoundStatistics& request) { return request.drafted == 0; });
}

Times times_of(const std::vector<RoundStatistics>& requests, const Prices& prices) {
  Times times;
  times.reserve(requests.size());
  for (const RoundStatistics& request : requests) times.push_back(time_ns(request, prices));
  return times;
}

/// Builds one waterfall; each step needs the previous ones.
class RecordingWaterfallMaker {
 public:
  RecordingWaterfallMaker(const WhatIf& what_if, const traces::Recording& recording, const Machine& machine,
                          std::int32_t longer_context, const WaterfallOptions& options)
      : what_if_(what_if),
        recording_(recording),
        machine_(machine),
        longer_context_(longer_context),
        options_(options) {}

  Result<RecordingWaterfall> make(std::span<const StrategyRounds> strategies) {
    DRAFTSCOPE_TRY(check_shadowed(what_if_, recording_));
    DRAFTSCOPE_TRY_ASSIGN(vanilla_, vanilla_rounds(what_if_, recording_));
    prompts_ = table_prompts(what_if_.trained().shadowed.tables, recording_);
    take(strategies);
    DRAFTSCOPE_TRY(make_waterfall());
    for (const StrategyRounds& strategy : strategies_) DRAFTSCOPE_TRY(add_share(strategy));
    return std::move(result_);
  }

 private:
  /// Takes the strategies whose requests match the tables. The oracle verifies above exits where a recorded
  /// run does, whichever strategies are asked about. So its levels and gaps depend on the recording only.
  void take(std::span<const StrategyRounds> strategies) {
    for (const traces::Run& run : recording_.runs)
      if (verifies_above_exit(run)) result_.verified_layers = VerifiedLayers::above_exit;
    for (const StrategyRounds& strategy : strategies) {
      auto ordered = in_order_of(prompts_, vanilla_, strategy);
      if (!ordered) {
        result_.unshared.push_back({strategy.strategy, ordered.error().message});
        continue;
      }
      if (ordered->verified_layers == VerifiedLayers::above_exit)
        result_.verified_layers = VerifiedLayers::above_exit;
      strategies_.push_back(*std::move(ordered));
    }
  }

  Result<void> make_waterfall() {
    std::int32_t widths = options_.longest + 1;
    for (const StrategyRounds& strategy : strategies_)
      widths = std::max(widths, widest_verification(strategy.setting));
    DRAFTSCOPE_TRY_ASSIGN(Prices prices, early_exit_prices(what_if_.costs().model, machine_,
                                                           result_.verified_layers, widths, longer_context_));
    prices = at_longer_context(std::move(prices), longer_context_);
    std::map<traces::PromptId, std::string> categories;
    for (const traces::Prompt& prompt : recording_.prompts) categories[prompt.id] = prompt.category;
    std::vector<WaterfallRequest> requests;
    PassCount steps;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      requests.push_back({&what_if_.trained().shadowed.tables[i], categories[prompts_[i]], prompts_[i]});
      steps.passes += vanilla_[i].target_steps.passes;
      steps.context += vanilla_[i].target_steps.context;
    }
    if (steps.passes > 0)
      result_.mean_context =
          static_cast<double>(steps.context) / static_cast<double>(steps.passes) + longer_context_;
    WaterfallPolicy policy;
    // Time of a strategy outside its passes counts only in its share: no price of the waterfall covers it.
    const bool has_policy = strategies_.size() == 1 && drafts_early_exits(strategies_.front()) &&
                            strategies_.front().auxiliary_passes.empty();
    if (has_policy) policy = {strategies_.front().setting.min_drafted, strategies_.front().setting.status};
    DRAFTSCOPE_TRY_ASSIGN(result_.waterfall,
                          waterfall(requests, prices, has_policy ? &policy : nullptr, options_));
    lower_status();
    return {};
  }

  /// On another model or at another context the texts' acceptance is assumed, not known.
  void lower_status() {
    StrategyRounds nothing = for_shape({}, what_if_.costs().model.shape, machine_.scenario.shape);
    if (longer_context_ > 0) lengthen_context(nothing, longer_context_);
    for (WaterfallStep& step : result_.waterfall.steps)
      step.status = std::max(step.status, nothing.setting.status);
    result_.notes = std::move(nothing.notes);
  }

  Result<void> add_share(const StrategyRounds& strategy) {
    StrategyRounds rounds = for_shape(strategy, what_if_.costs().model.shape, machine_.scenario.shape);
    if (longer_context_ > 0) lengthen_context(rounds, longer_context_);
    DRAFTSCOPE_TRY_ASSIGN(const Prices prices, answer_prices(what_if_.costs().model, rounds, machine_));
    const Waterfall& waterfall = result_.waterfall;
    const double vanilla_ns = sum(step_at(waterfall, WaterfallLevel::vanilla).times_ns);
    const Times& oracle = step_at(waterfall, WaterfallLevel::oracle).times_ns;
    const Times times = times_of(rounds.setting.min_drafted, prices);
    StrategyShare share{
        .strategy = rounds.strategy,
        .source = rounds.source,
        .status = rounds.setting.status,
        .speedup = vanilla_ns / sum(times),
        .is_bounded = drafts_early_exits(strategy) && verifies_as(result_.verified_layers, strategy)};
    if (!rounds.setting.max_drafted.empty())
      share.speedup_max_drafted = vanilla_ns / sum(times_of(rounds.setting.max_drafted, prices));
    std::vector<ClusterSums> clusters;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i] > 0.0) clusters.push_back({oracle[i], times[i]});
    DRAFTSCOPE_TRY_ASSIGN(share.of_oracle, cluster_bootstrap(clusters));
    const double possible = vanilla_ns / sum(oracle) - 1.0;
    if (possible >= min_oracle_gain) share.efficiency = (share.speedup - 1.0) / possible;
    result_.strategies.push_back(std::move(share));
    return {};
  }

  const WhatIf& what_if_;
  const traces::Recording& recording_;
  const Machine& machine_;
  std::int32_t longer_context_;
  const WaterfallOptions& options_;
  std::vector<traces::PromptId> prompts_;
  std::vector<RoundStatistics> vanilla_;
  std::vector<StrategyRounds> strategies_;
  RecordingWaterfall result_;
};

}  // namespace

Result<RecordingWaterfall> recording_waterfall(const WhatIf& what_if, const traces::Recording& recording,
                                               const Machine& machine,
                                               std::span<const StrategyRounds> strategies,
                                               std::int32_t longer_context, const WaterfallOptions& options) {
  return RecordingWaterfallMaker(what_if, recording, machine, longer_context, options).make(strategies);
}

const WaterfallStep& step_at(const Waterfall& waterfall, WaterfallLevel level) {
  return *std::find_if(waterfall.steps.begin(), waterfall.steps.end(),
                       [level](const WaterfallStep& step) { return step.level == level; });
}

std::string_view gap_meaning(std::string_view name) {
  if (name == "tuning") return "one setting for all requests, instead of each one's best in hindsight";
  if (name == "learning") return "the policy under test, instead of the best causal rule";
  if (name == "information") return "what confidences do not tell about the text to come";
  return "what draft steps cost";
}

std::string_view no_bound_note() {
  return "drafts or verifies in another way than the oracle's early exits, which are no bound for it";
}

std::string fixed_setting_text(const FixedSetting& setting) {
  if (setting.length == 0) return "no speculation";
  return fmt::format("exit {} with {} draft token{}", setting.exit, setting.length,
                     setting.length == 1 ? "" : "s");
}

std::vector<std::string> waterfall_notes(const RecordingWaterfall& found, std::int32_t batch) {
  const Waterfall& waterfall = found.waterfall;
  constexpr double ns_per_s = 1e9;
  std::vector<std::string> notes{
      fmt::format("price of time: {} tokens/s at batch {} and {:.0f} rows of context on average",
                  number_text(ns_per_s * waterfall.price), batch, found.mean_context)};
  const ConfidenceThreshold& rule = waterfall.threshold;
  notes.push_back(
      rule.exit < 1 ? "best threshold: none, it is faster not to speculate"
                    : fmt::format("best threshold: confidence {:.2f} at exit {}, at most {} draft tokens, {}",
                                  rule.threshold, rule.exit, rule.longest,
                                  waterfall.folds > 1 ? "its level is judged on other requests"
                                                      : "judged on the request it was chosen on"));
  std::string best = "best settings: " + fixed_setting_text(waterfall.settings[waterfall.best.global]);
  if (waterfall.best.by_category.size() > 1)
    for (const auto& [category, setting] : waterfall.best.by_category)
      best +=
          fmt::format("; {} {}", category_name(category), fixed_setting_text(waterfall.settings[setting]));
  notes.push_back(std::move(best));
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  return notes;
}

std::vector<NamedGap> named_gaps(const WaterfallGaps& gaps) {
  std::vector<NamedGap> named{{"tuning", gaps.tuning}};
  if (gaps.learning) named.push_back({"learning", *gaps.learning});
  named.push_back({"information", gaps.information});
  named.push_back({"hardware", gaps.hardware});
  return named;
}

}  // namespace draftscope::simulator
