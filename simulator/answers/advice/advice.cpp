// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/advice/choice.h"
#include "answers/advice/objections.h"
#include "answers/oracle/price_of_time.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

/// Whether both are the same draft, except for its length, threshold or verified layers.
bool is_variant(const std::optional<EarlyExitSetting>& a, const std::optional<EarlyExitSetting>& b) {
  return a && b && a->exit == b->exit && a->threshold.has_value() == b->threshold.has_value();
}

/// Advice for one machine; each step needs the previous ones.
class Adviser {
 public:
  Adviser(const WhatIf& what_if, const traces::Recording& recording, const Candidates& candidates,
          const Machine& machine, const AdviceOptions& options)
      : what_if_(what_if),
        recording_(recording),
        candidates_(on_machine(candidates, what_if, machine)),
        machine_(machine),
        options_(options),
        placed_(place(candidates_, what_if.costs().model.shape, machine.scenario.shape)),
        vanilla_(sum_of(candidates.vanilla)) {}

  Result<Advice> advise() {
    if (candidates_.all.empty()) return fail("found no candidate that drafts, expected a text of two tokens");
    advice_.machine = machine_.name;
    advice_.left_out = candidates_.left_out;
    advice_.considered = candidates_.all.size();
    advice_.among = candidates_.considered;
    for (const Candidate& candidate : candidates_.all)
      if (!candidate.is_of_kind) advice_.besides.push_back(candidate.rounds.strategy);
    DRAFTSCOPE_TRY_ASSIGN(JoinedPrices joined, joined_prices(what_if_.costs().model, placed_.groups, machine_,
                                                             options_.longer_context, options_.draws.seed));
    priced_ = std::move(joined.machine);
    has_own_ratios_ = joined.has_own_ratios;
    competition_ = compete(placed_, vanilla_, priced_.prices, has_own_ratios_);
    fastest_ = competition_.fastest();
    advice_.fastest = candidates_.all[fastest_].rounds.strategy;
    advice_.setting = candidates_.all[fastest_].setting;
    rank();
    choose_by_category();
    DRAFTSCOPE_TRY(ask());
    DRAFTSCOPE_TRY(hold_out());
    judge();
    DRAFTSCOPE_TRY(find_runner_up());
    DRAFTSCOPE_TRY(find_break_even());
    DRAFTSCOPE_TRY(find_neighbours());
    DRAFTSCOPE_TRY(find_limits());
    DRAFTSCOPE_TRY_ASSIGN(advice_.near_ties, near_tie_effect(what_if_, recording_, advice_.fastest, machine_,
                                                             options_.longer_context));
    advice_.to_record = what_to_record(advice_, machine_, what_if_.costs().model, recording_);
    return std::move(advice_);
  }

 private:
  void rank() {
    for (std::size_t i = 0; i < candidates_.all.size(); ++i)
      advice_.ranking.push_back(
          {candidates_.all[i].rounds.strategy, candidates_.all[i].setting, competition_.speedup(i)});
    std::stable_sort(
        advice_.ranking.begin(), advice_.ranking.end(),
        [](const RankedCandidate& a, const RankedCandidate& b) { return a.speedup > b.speedup; });
  }

  void choose_by_category() {
    const std::vector<std::string>& categories = placed_.rounds.front().categories;
    if (categories.size() != candidates_.vanilla.size()) return;
    std::map<std::string, std::vector<std::size_t>> requests;
    for (std::size_t i = 0; i < categories.size(); ++i) requests[categories[i]].push_back(i);
    if (requests.size() < 2) return;
    const std::vector<std::optional<MeasuredRounds>> measured = measured_candidates();
    for (const auto& [category, of_category] : requests) {
      const std::vector<std::size_t>& places = of_category;
      std::vector<traces::PromptId> prompts;
      prompts.reserve(places.size());
      for (const std::size_t place : places) prompts.push_back(candidates_.prompts[place]);
      const auto total_ns = [&](const std::vector<RoundStatistics>& rounds) {
        double total = 0.0;
        for (const std::size_t place : places) total += time_ns(rounds[place], priced_.prices);
        return total;
      };
      const double vanilla_ns = total_ns(candidates_.vanilla);
      CategoryChoice choice{category, "vanilla", 1.0};
      for (std::size_t i = 0; i < candidates_.all.size(); ++i) {
        StrategyRounds part{.own_ratio = competition_.own_ratio[i]};
        if (measured[i]) put_own_ratios(what_if_.trained(), *measured[i], prompts, part);
        const double speedup = vanilla_ns / (part.own_ratio * total_ns(slower(placed_, competition_, i)));
        if (speedup > choice.speedup) choice = {category, candidates_.all[i].rounds.strategy, speedup};
      }
      advice_.by_category.push_back(std::move(choice));
    }
  }

  /// [candidate]: the recorded run, where the machine has the run's own times.
  [[nodiscard]] std::vector<std::optional<MeasuredRounds>> measured_candidates() const {
    std::vector<std::optional<MeasuredRounds>> measured(candidates_.all.size());
    if (!has_own_ratios_) return measured;
    for (std::size_t i = 0; i < measured.size(); ++i)
      measured[i] = measured_rounds(what_if_.trained(), candidates_.all[i].rounds);
    return measured;
  }

  /// Rounds as they would be on the machine.
  Result<StrategyRounds> rounds_of(const std::string& strategy) const {
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if_.rounds(strategy, machine_));
    if (options_.other_texts) ask_of_other_texts(rounds, *options_.other_texts);
    if (options_.longer_context > 0) lengthen_context(rounds, options_.longer_context);
    return for_shape(std::move(rounds), what_if_.costs().model.shape, machine_.scenario.shape);
  }

  Result<void> ask() {
    DRAFTSCOPE_TRY_ASSIGN(const StrategyRounds rounds, rounds_of(advice_.fastest));
    if (advice_.setting && !rounds.drafts.empty())
      advice_.exit_there = rounds.drafts[static_cast<std::size_t>(advice_.setting->exit) - 1].attention;
    DRAFTSCOPE_TRY_ASSIGN(advice_.answer,
                          simulator::ask(what_if_.costs().model, rounds, machine_, options_.draws, true));
    advice_.speedup = advice_.answer.speedup.lower();
    advice_.interval_95 = advice_.answer.speedup.interval_95();
    return {};
  }

  void judge() {
    AdviceGrounds grounds{.advice = advice_,
                          .recorded_model = what_if_.costs().model.shape.name,
                          .asked_model = machine_.scenario.shape.name,
                          .slow_baseline = {},
                          .not_considered = {}};
    const CostModel& learnt = what_if_.costs().model;
    if (machine_.costs == nullptr && learnt.from_trace && (!machine_.scenario.gpu || learnt.gpu))
      grounds.slow_baseline = slow_baseline_reason(target_passes(what_if_.trained()), advice_.speedup);
    if (grounds.slow_baseline.empty()) grounds.slow_baseline = above_yield(advice_.answer);
    if (is_recorded_machine(machine_, what_if_.recorded_scenario()) && options_.longer_context == 0 &&
        !options_.other_texts) {
      const std::vector<MeasuredSetting> runs = measured_settings(recording_);
      if (const MeasuredSetting* run = measured_setting_of(advice_.answer, runs))
        advice_.measured = measured_beside(advice_.answer, *run, what_if_.costs().report, recording_.meta);
      for (const MeasuredSetting& run : runs)
        if (run.speedup > (grounds.not_considered ? grounds.not_considered->speedup : 1.0) &&
            std::ranges::none_of(advice_.ranking, [&](const RankedCandidate& candidate) {
              return candidate.strategy == run.strategy;
            }))
          grounds.not_considered = run;
    }
    simulator::judge(advice_, grounds);
  }

  Result<void> hold_out() {
    std::vector<PassCount> vanilla;
    for (const RoundStatistics& request : candidates_.vanilla) vanilla.push_back(request.target_steps);
    const std::size_t folds = fold_count(candidates_.vanilla.size(), options_.folds);
    advice_.held_out.folds = static_cast<std::int32_t>(folds);
    const HeldOutRounds chosen =
        folds > 1 ? cross_fitted(placed_, competition_, candidates_.vanilla, priced_.prices, folds)
                  : HeldOutRounds{.setting = {placed_.rounds[fastest_].setting.status,
                                              slower(placed_, competition_, fastest_),
                                              {}},
                                  .own_ratio = competition_.own_ratio[fastest_]};
    PredictionOptions draws = options_.draws;
    draws.other_texts = advice_.answer.text_spread;
    DRAFTSCOPE_TRY_ASSIGN(const PredictedRatio gain,
                          predict_speedup(vanilla, chosen.setting, priced_, draws));
    advice_.held_out.speedup = gain.min_drafted;
    slow_down(advice_.held_out.speedup, chosen.own_ratio);
    return {};
  }

  Result<void> find_runner_up() {
    std::optional<std::size_t> second;
    for (std::size_t i = 0; i < candidates_.all.size(); ++i) {
      if (i == fastest_ || is_variant(candidates_.all[i].setting, advice_.setting)) continue;
      if (!(competition_.speedup(i) > 1.0)) continue;
      if (!second || competition_.total_ns[i] < competition_.total_ns[*second]) second = i;
    }
    if (!second) return {};
    RunnerUp runner_up{.strategy = candidates_.all[*second].rounds.strategy,
                       .speedup = competition_.speedup(*second),
                       .lead = {}};
    const std::vector<RoundStatistics>& first = slower(placed_, competition_, fastest_);
    const std::vector<RoundStatistics>& other = slower(placed_, competition_, *second);
    std::vector<ClusterSums> clusters;
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i].rounds > 0)
        clusters.push_back({competition_.own_ratio[*second] * time_ns(other[i], priced_.prices),
                            competition_.own_ratio[fastest_] * time_ns(first[i], priced_.prices)});
    DRAFTSCOPE_TRY_ASSIGN(runner_up.lead, cluster_bootstrap(clusters, {.draws = options_.draws.draws,
                                                                       .seed = options_.draws.seed}));
    advice_.runner_up = std::move(runner_up);
    return {};
  }

  Result<void> find_break_even() {
    const Answer& answer = advice_.answer;
    if (!(answer.steps_per_round > 0.0)) return {};
    const bool is_fixed = advice_.setting && !advice_.setting->threshold;
    const auto gamma = is_fixed ? std::optional(advice_.setting->gamma) : std::nullopt;
    DRAFTSCOPE_TRY_ASSIGN(advice_.break_even,
                          break_even({answer.steps_per_round, answer.c, answer.v, answer.o}, gamma));
    return {};
  }

  Result<void> find_neighbours() {
    if (!advice_.setting) return {};
    constexpr std::int32_t max_gamma = 255;
    const std::int32_t exits = what_if_.trained().n_layers() - 1;
    const bool knows_all = !what_if_.trained().shadowed.tables.empty();
    constexpr std::array<std::pair<const char*, std::pair<std::int32_t, std::int32_t>>, 4> steps{
        {{"E-1", {-1, 0}}, {"E+1", {1, 0}}, {"gamma-1", {0, -1}}, {"gamma+1", {0, 1}}}};
    for (const auto& [name, change] : steps) {
      EarlyExitSetting next = *advice_.setting;
      next.exit += change.first;
      next.gamma += change.second;
      if (next.exit < 1 || next.exit > exits || next.gamma < 1 || next.gamma > max_gamma) continue;
      const std::string strategy = specification(next);
      auto answered = rounds_of(strategy);
      if (!answered && !knows_all) continue;
      DRAFTSCOPE_TRY_ASSIGN(const StrategyRounds rounds, std::move(answered));
      DRAFTSCOPE_TRY_ASSIGN(const Prices prices, answer_prices(what_if_.costs().model, rounds, machine_));
      double ns = time_ns(sum_of(rounds.setting.min_drafted), prices);
      if (!rounds.setting.max_drafted.empty())
        ns = std::max(ns, time_ns(sum_of(rounds.setting.max_drafted), prices));
      DRAFTSCOPE_TRY_ASSIGN(const double own_ratio, own_time_ratio(what_if_.costs().model, rounds, machine_));
      ns *= own_ratio;
      advice_.neighbours.push_back({name, strategy, competition_.total_ns[fastest_] / ns - 1.0});
    }
    return {};
  }

  Result<void> find_limits() {
    const AdvisedMachine advised{what_if_.costs().model, machine_, placed_, vanilla_, options_};
    DRAFTSCOPE_TRY_ASSIGN(advice_.batch, batch_limit(advised));
    const bool drafts = competition_.speedup(fastest_) > 1.0;
    advice_.context = context_limit(advised, drafts ? std::optional(fastest_) : std::nullopt, priced_.prices,
                                    has_own_ratios_);
    if (what_if_.trained().shadowed.tables.empty()) return {};
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if_.rounds(advice_.fastest, machine_));
    const std::array<StrategyRounds, 1> policy{std::move(rounds)};
    DRAFTSCOPE_TRY_ASSIGN(const RecordingWaterfall found,
                          recording_waterfall(what_if_, recording_, machine_, policy, options_.longer_context,
                                              options_.waterfall));
    advice_.gaps = found.waterfall.gaps;
    return {};
  }

  const WhatIf& what_if_;
  const traces::Recording& recording_;
  const Candidates candidates_;
  const Machine& machine_;
  const AdviceOptions& options_;
  PlacedCandidates placed_;
  RoundStatistics vanilla_;
  PricedMachine priced_;
  bool has_own_ratios_ = false;
  Competition competition_;
  std::size_t fastest_ = 0;
  Advice advice_;
};

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::array<std::string_view, 3> names{"speculate", "measure first", "do not speculate"};
  return names[static_cast<std::size_t>(verdict)];
}

Result<Advice> advise(const WhatIf& what_if, const traces::Recording& recording, const Candidates& candidates,
                      const Machine& machine, const AdviceOptions& options) {
  DRAFTSCOPE_TRY(check_has_vanilla(recording, recording.path.filename().string()));
  return Adviser(what_if, recording, candidates, machine, options).advise();
}

}  // namespace draftscope::simulator
