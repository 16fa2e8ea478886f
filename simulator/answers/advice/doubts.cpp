// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/doubts.h"

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "rounds/replay/near_ties.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

/// The slower bound's speedup of rounds of the recorded shape on the machine.
Result<double> speedup_of(StrategyRounds rounds, const CostModel& model, const Machine& machine,
                          std::int32_t longer_context) {
  rounds = for_shape(std::move(rounds), model.shape, machine.scenario.shape);
  if (longer_context > 0) lengthen_context(rounds, longer_context);
  DRAFTSCOPE_TRY_ASSIGN(const Prices prices, answer_prices(model, rounds, machine));
  RoundStatistics vanilla{.target_steps = sum_of(rounds.vanilla)};
  vanilla.rounds = vanilla.target_steps.passes;
  const double ns = std::max(time_ns(sum_of(rounds.setting.min_drafted), prices),
                             time_ns(sum_of(rounds.setting.max_drafted), prices));
  return time_ns(vanilla, prices) / ns;
}

/// Number of prompts that narrows the acceptance's part of the interval until it excludes 1, if that is
/// sufficient.
std::optional<std::size_t> prompts_needed(const Advice& advice) {
  const VarianceBudget& budget = *advice.answer.budget;
  constexpr double two_sided_95 = 1.96;
  const double gain = std::log(advice.speedup) / two_sided_95;
  const double variance = budget.sigma * budget.sigma;
  const double acceptance = variance * budget.acceptance;
  const double left = gain * gain - (variance - acceptance);
  if (!(advice.speedup > 1.0 && acceptance > 0.0 && left > 0.0)) return std::nullopt;
  const auto prompts = static_cast<double>(advice.answer.speedup.min_drafted.total.clusters);
  return static_cast<std::size_t>(std::ceil(prompts * acceptance / left));
}

std::string more_prompts(const Advice& advice) {
  const std::size_t prompts = advice.answer.speedup.min_drafted.total.clusters;
  const auto needed = prompts_needed(advice);
  if (advice.verdict == Verdict::measure_first && needed && *needed > prompts)
    return fmt::format("about {} prompts in place of {}: which ones there are is most of the spread", *needed,
                       prompts);
  return fmt::format("more prompts than {}: which ones there are is most of the spread", prompts);
}

/// The category of all prompts; empty if there are several, or if prompts have none.
std::string_view only_category(std::span<const traces::Prompt> prompts) {
  const bool is_alone =
      !prompts.empty() && std::all_of(prompts.begin(), prompts.end(), [&](const traces::Prompt& prompt) {
        return prompt.category == prompts.front().category;
      });
  return is_alone ? std::string_view(prompts.front().category) : std::string_view();
}

/// The recording level that splits passes into parts whose times add up, unless that was recorded.
std::string_view finer_level(const traces::Meta& meta) {
  const auto level = meta.find("level");
  const bool is_fine = level != meta.end() && (level->second == "ops" || level->second == "layers");
  return is_fine ? "" : "--level layers and ";
}

}  // namespace

Result<std::optional<NearTieEffect>> near_tie_effect(const WhatIf& what_if,
                                                     const traces::Recording& recording,
                                                     const std::string& strategy, const Machine& machine,
                                                     std::int32_t longer_context) {
  if (what_if.trained().shadowed.tables.empty()) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(recording));
  DRAFTSCOPE_TRY_ASSIGN(const PolicyChoice choice, policy_of_specification(strategy, model));
  if (choice.policy == nullptr) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const ReplayConditions conditions, replay_conditions(recording));
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if.rounds(strategy));
  NearTieEffect effect;
  for (const ShadowTable& table : what_if.trained().shadowed.tables) {
    effect.positions += table.end() - table.first;
    effect.at_risk += static_cast<std::int64_t>(near_ties(table, near_tie_margin).size());
  }
  const auto with = [&](TieOutcome outcome) {
    std::vector<ShadowTable> flipped;
    for (const ShadowTable& table : what_if.trained().shadowed.tables)
      flipped.push_back(with_near_ties(table, near_tie_margin, outcome));
    rounds.setting.min_drafted.clear();
    rounds.setting.max_drafted.clear();
    for (ReplayTotals& request : replay(flipped, *choice.policy, conditions)) {
      rounds.setting.min_drafted.push_back(std::move(request.least));
      rounds.setting.max_drafted.push_back(std::move(request.most));
    }
    return speedup_of(rounds, what_if.costs().model, machine, longer_context);
  };
  DRAFTSCOPE_TRY_ASSIGN(effect.rejected, with(TieOutcome::rejected));
  DRAFTSCOPE_TRY_ASSIGN(effect.accepted, with(TieOutcome::accepted));
  return effect;
}

std::vector<std::string> what_to_record(const Advice& advice, const Machine& machine, const CostModel& model,
                                        const traces::Recording& recording) {
  std::vector<std::string> lines;
  const RatioEstimate& total = advice.answer.speedup.min_drafted.total;
  if (!total.interval_95)
    lines.push_back(fmt::format("at least {} prompts, for an interval", min_clusters_for_interval));
  if (advice.answer.budget) {
    const VarianceBudget& budget = *advice.answer.budget;
    const std::array<std::pair<double, std::string>, 4> sources{
        {{budget.acceptance, more_prompts(advice)},
         {budget.fit, fmt::format("{}more --repeats: times of passes are most of the spread",
                                  finer_level(recording.meta))},
         {budget.width, fmt::format("strategies that verify wider: beyond {} rows times are extrapolated",
                                    model.largest_rows)},
         {budget.transfer,
          fmt::format("a run on {} itself: taking costs there is most of the spread", machine.name)}}};
    const auto largest = std::max_element(sources.begin(), sources.end(),
                                          [](const auto& a, const auto& b) { return a.first < b.first; });
    if (largest->first > 0.0) lines.push_back(largest->second);
  }
  if (advice.answer.source != RoundSource::recorded)
    lines.push_back(fmt::format("{} itself, to check what is predicted", advice.fastest));
  if (!advice.gaps)
    lines.emplace_back("--shadow: what exits that no run drafted with would bring, and what is possible");
  if (const std::string_view kind = only_category(recording.prompts); !kind.empty())
    lines.push_back(fmt::format(
        "prompts of another kind than {}, if there will be such: the interval knows of no other", kind));
  return lines;
}

}  // namespace draftscope::simulator
