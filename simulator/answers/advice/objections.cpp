// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/objections.h"

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

std::string range(const Interval& interval) {
  return fmt::format("{:.2f} to {:.2f}", interval.low, interval.high);
}

/// Why there is no interval; never empty, since an empty reason is no objection.
std::string missing_interval(const RatioEstimate& estimate) {
  return estimate.no_interval_reason.empty() ? "there is no interval" : estimate.no_interval_reason;
}

std::string nothing_is_faster(const AdviceGrounds& of) {
  if (of.advice.speedup > 1.0) return {};
  std::string reason = fmt::format("no candidate of {} is faster than vanilla: the fastest, {}, gives {:.2f}",
                                   of.advice.considered, of.advice.fastest, of.advice.speedup);
  if (of.not_considered)
    reason += fmt::format("; {}, which is no candidate, was recorded with {:.2f}",
                          of.not_considered->strategy, of.not_considered->speedup);
  return reason;
}

std::string step_is_slow(const AdviceGrounds& of) {
  return of.slow_baseline;
}

std::string interval_is_below_1(const AdviceGrounds& of) {
  const auto& interval = of.advice.interval_95;
  if (!interval || interval->high > 1.0) return {};
  return fmt::format("{} gives {} (95 %)", of.advice.fastest, range(*interval));
}

std::string there_is_no_interval(const AdviceGrounds& of) {
  return of.advice.interval_95 ? std::string() : missing_interval(of.advice.answer.speedup.min_drafted);
}

std::string there_is_no_interval_elsewhere(const AdviceGrounds& of) {
  const RatioEstimate& held_out = of.advice.held_out.speedup;
  return held_out.interval_95 ? std::string() : missing_interval(held_out);
}

std::string gain_is_gone_elsewhere(const AdviceGrounds& of) {
  const RatioEstimate& held_out = of.advice.held_out.speedup;
  if (held_out.value > 1.0) return {};
  return fmt::format("chosen on some prompts and judged on others, the gain is gone: {:.2f}", held_out.value);
}

std::string model_is_another(const AdviceGrounds& of) {
  if (of.asked_model == of.recorded_model) return {};
  return fmt::format("what {} would accept is not in a recording of {}", of.asked_model, of.recorded_model);
}

std::string was_measured_otherwise(const AdviceGrounds& of) {
  const auto& measured = of.advice.measured;
  if (!measured || measured->run.speedup > 1.0) return {};
  return fmt::format("it was recorded, with {:.2f} in place of the predicted {:.2f}", measured->run.speedup,
                     of.advice.speedup);
}

std::string interval_includes_1(const AdviceGrounds& of) {
  const auto& interval = of.advice.interval_95;
  if (!interval || interval->low > 1.0) return {};
  return fmt::format("the gain's 95 % interval includes 1: {}", range(*interval));
}

std::string interval_includes_1_elsewhere(const AdviceGrounds& of) {
  const auto& interval = of.advice.held_out.speedup.interval_95;
  if (!interval || interval->low > 1.0) return {};
  return fmt::format("on prompts it was not chosen on, its 95 % interval includes 1: {}", range(*interval));
}

constexpr std::array objections{
    ObjectionRow{"nothing_is_faster", Verdict::do_not_speculate, nothing_is_faster},
    ObjectionRow{"step_is_slow", Verdict::measure_first, step_is_slow},
    ObjectionRow{"interval_is_below_1", Verdict::do_not_speculate, interval_is_below_1},
    ObjectionRow{"there_is_no_interval", Verdict::measure_first, there_is_no_interval},
    ObjectionRow{"there_is_no_interval_elsewhere", Verdict::measure_first, there_is_no_interval_elsewhere},
    ObjectionRow{"gain_is_gone_elsewhere", Verdict::do_not_speculate, gain_is_gone_elsewhere},
    ObjectionRow{"model_is_another", Verdict::measure_first, model_is_another},
    ObjectionRow{"was_measured_otherwise", Verdict::measure_first, was_measured_otherwise},
    ObjectionRow{"interval_includes_1", Verdict::measure_first, interval_includes_1},
    ObjectionRow{"interval_includes_1_elsewhere", Verdict::measure_first, interval_includes_1_elsewhere}};

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
  DRAFTSCOPE_TRY_ASSIGN(const double own_ratio, own_time_ratio(model, rounds, machine));
  return time_ns(vanilla, prices) / (own_ratio * ns);
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
  const auto prompts = static_cast<double>(advice.answer.speedup.min_drafted.clusters);
  return static_cast<std::size_t>(std::ceil(prompts * acceptance / left));
}

std::string more_prompts(const Advice& advice) {
  const std::size_t prompts = advice.answer.speedup.min_drafted.clusters;
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

}  // namespace

std::span<const ObjectionRow> objection_table() {
  return objections;
}

std::string slow_baseline_reason(const TargetPasses& passes, double speedup) {
  if (!passes.is_step_slow()) return {};
  const TimedPasses& fast = *passes.cheapest();
  if (speedup * fast.by_itself_ns() > passes.step_ns.median) return {};
  return fmt::format("vanilla steps are slow here: one row takes {}, {} rows take {} under {}",
                     duration_text(passes.step_ns.median, Characters::ascii), fast.rows,
                     duration_text(fast.ns.median, Characters::ascii), fast.run->specification);
}

void judge(Advice& advice, const AdviceGrounds& grounds) {
  advice.verdict = Verdict::speculate;
  for (const ObjectionRow& row : objections) {
    advice.reason = row.reason(grounds);
    if (advice.reason.empty()) continue;
    advice.verdict = row.verdict;
    break;
  }
  if (advice.verdict == Verdict::speculate)
    advice.reason = fmt::format("faster than vanilla: {} (95 %)", range(*advice.interval_95));
  advice.strategy = advice.verdict == Verdict::speculate ? advice.fastest : "vanilla";
}

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
  // A replay does not count what the strategy does beside its rounds; near ties hardly change that.
  const RoundStatistics as_is = sum_of(rounds.setting.min_drafted);
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
    for (auto* const requests : {&rounds.setting.min_drafted, &rounds.setting.max_drafted}) {
      requests->front().auxiliary = as_is.auxiliary;
      requests->front().host_ns = as_is.host_ns;
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
  const RatioEstimate& total = advice.answer.speedup.min_drafted;
  if (!total.interval_95)
    lines.push_back(fmt::format("at least {} prompts, for an interval", min_clusters_for_interval));
  if (advice.answer.budget) {
    const VarianceBudget& budget = *advice.answer.budget;
    const std::array<std::pair<double, std::string>, 4> sources{
        {{budget.acceptance, more_prompts(advice)},
         {budget.fit, fmt::format("{}more --repeats: times of passes are most of the spread",
                                  has_layer_times(recording.meta) ? "" : "--level layers and ")},
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
