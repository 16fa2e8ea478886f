// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/analysis/stretches.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/rounds_part.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "answers/advice/objections.h"
#include "learnt.h"

namespace draftscope::simulator {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Options with early exits and recorded runs only.
CandidateOptions few_candidates() {
  return {.longest = 6,
          .lengths = {},
          .threshold_lengths = {4, 8},
          .thresholds = {0.4, 0.6, 0.8},
          .learners = false};
}

AdviceOptions few_draws() {
  return {.draws = {.draws = 400},
          .waterfall = {.longest = 6, .bins = 3, .thresholds = {0.3, 0.6, 0.9}, .resamples = 100}};
}

Result<Advice> advise_on(const Learnt& learnt, const Machine& machine,
                         const AdviceOptions& options = few_draws()) {
  auto found = candidates(learnt.what_if(), learnt.recording(), few_candidates());
  if (!found) return tl::unexpected(found.error());
  return advise(learnt.what_if(), learnt.recording(), *found, machine, options);
}

Result<Advice> advise_on(const Learnt& learnt) {
  return advise_on(learnt, learnt.machine());
}

TEST(Advice, NeverProposesWhatIsPredictedToLose) {
  int speculates = 0;
  int abstains = 0;
  for (unsigned seed = 1; seed <= 4; ++seed)
    for (const double skill : {0.3, 0.8, 1.1}) {
      const Learnt learnt({.skill = skill, .seed = seed});
      const auto advice = advise_on(learnt);
      ASSERT_TRUE(advice) << advice.error().message;
      EXPECT_EQ(advice->strategy == "vanilla", advice->verdict != Verdict::speculate);
      EXPECT_FALSE(advice->reason.empty());
      if (advice->runner_up) {
        EXPECT_GT(advice->runner_up->speedup, 1.0);
      }
      if (advice->verdict == Verdict::speculate) {
        ++speculates;
        EXPECT_GT(advice->interval_95.value().low, 1.0);
        EXPECT_GT(advice->held_out.speedup.interval_95.value().low, 1.0);
        EXPECT_GT(advice->speedup, 1.0);
      } else {
        ++abstains;
      }
    }
  EXPECT_GT(speculates, 0);
  EXPECT_GT(abstains, 0);
}

TEST(Advice, SaysWhatSimulateSays) {
  const Learnt learnt({.skill = 1.1});
  const auto advice = advise_on(learnt);
  ASSERT_TRUE(advice) << advice.error().message;
  const StrategyRounds rounds = learnt.what_if().rounds(advice->fastest).value();
  const Answer answer =
      ask(learnt.what_if().costs().model, rounds, learnt.machine(), few_draws().draws).value();
  EXPECT_EQ(advice->answer.speedup.min_drafted.value, answer.speedup.min_drafted.value);
  const Interval expected = answer.speedup.interval_95().value();
  EXPECT_EQ(advice->interval_95->low, expected.low);
  EXPECT_EQ(advice->interval_95->high, expected.high);
}

TEST(Advice, IsNoSlowerThanAnyCandidate) {
  const Learnt learnt({.skill = 0.95});
  const auto found = candidates(learnt.what_if(), learnt.recording(), few_candidates());
  const auto advice = advise_on(learnt);
  ASSERT_TRUE(found && advice);
  EXPECT_EQ(advice->considered, found->all.size());
  ASSERT_EQ(advice->ranking.size(), found->all.size());
  EXPECT_EQ(advice->ranking.front().strategy, advice->fastest);
  EXPECT_TRUE(std::is_sorted(
      advice->ranking.begin(), advice->ranking.end(),
      [](const RankedCandidate& a, const RankedCandidate& b) { return a.speedup > b.speedup; }));
  EXPECT_FALSE(advice->neighbours.empty());
  for (const Neighbour& neighbour : advice->neighbours) {
    const auto ranked = std::ranges::find(advice->ranking, neighbour.strategy, &RankedCandidate::strategy);
    if (ranked == advice->ranking.end()) continue;
    EXPECT_NEAR(neighbour.relative, ranked->speedup / advice->speedup - 1.0, 1e-9) << neighbour.strategy;
  }
}

TEST(Advice, HasOneFigureForOneQuestion) {
  const Learnt learnt({.skill = 0.95, .strategies = {"vanilla", "layerskip:exit=3,gamma=4"}});
  CandidateOptions options = few_candidates();
  options.learners = true;
  const auto found = candidates(learnt.what_if(), learnt.recording(), options);
  ASSERT_TRUE(found) << found.error().message;
  int by_times = 0;
  for (const Machine& machine : {learnt.machine(), on_gpu(learnt, "H200-SXM5-141GB")}) {
    const auto advice = advise(learnt.what_if(), learnt.recording(), *found, machine, few_draws());
    ASSERT_TRUE(advice) << advice.error().message;
    EXPECT_NEAR(advice->ranking.front().speedup, advice->speedup, 1e-9) << machine.name;
    for (const RankedCandidate& ranked : advice->ranking) {
      by_times += goes_by_times(ranked.strategy) ? 1 : 0;
      EXPECT_NEAR(ranked.speedup, answer_of(learnt, ranked.strategy, machine).speedup.lower(), 1e-9)
          << machine.name << ' ' << ranked.strategy;
    }
    if (advice->runner_up) {
      EXPECT_GT(advice->runner_up->speedup, 1.0);
      EXPECT_LE(advice->runner_up->speedup, advice->speedup);
    }
  }
  EXPECT_EQ(by_times, 2);
}

TEST(Advice, SaysWhatWasMeasuredOfTheRunThatItAdvises) {
  const Learnt learnt({.skill = 0.9});
  Candidates found = candidates(learnt.what_if(), learnt.recording(), few_candidates()).value();
  std::erase_if(found.all, [](const Candidate& candidate) {
    return candidate.rounds.strategy != "layerskip:exit=3,gamma=4";
  });
  ASSERT_EQ(found.all.size(), 1U);
  for (const Machine& machine : {learnt.machine(), on_gpu(learnt, "H200-SXM5-141GB")}) {
    const auto advice = advise(learnt.what_if(), learnt.recording(), found, machine, few_draws());
    ASSERT_TRUE(advice) << advice.error().message;
    EXPECT_EQ(advice->measured.has_value(), machine.name == learnt.machine().name);
    if (advice->measured) {
      EXPECT_NEAR(advice->measured->run.speedup, advice->speedup, 0.02);
    }
  }
}

TEST(Advice, NamesTheFastestOfEachCategory) {
  const Learnt learnt({.skill = 0.95, .odd_draft_factor = 0.8});
  const auto found = candidates(learnt.what_if(), learnt.recording(), few_candidates());
  const auto advice = advise_on(learnt);
  ASSERT_TRUE(found && advice);
  ASSERT_EQ(advice->by_category.size(), 2U);
  std::set<std::string> named;
  for (const CategoryChoice& choice : advice->by_category) {
    for (const Candidate& candidate : found->all) {
      const StrategyRounds rounds = learnt.what_if().rounds(candidate.rounds.strategy).value();
      if (!rounds.setting.max_drafted.empty()) continue;
      const auto parts = parts_of(rounds, PartBy::category, learnt.what_if(), learnt.recording());
      ASSERT_TRUE(parts);
      for (const RoundsPart& part : *parts) {
        if (part.name != choice.category) continue;
        const double found_speedup = speedup(learnt, part.rounds, learnt.machine());
        EXPECT_LE(found_speedup, choice.speedup + 1e-9)
            << choice.category << " " << candidate.rounds.strategy;
        if (candidate.rounds.strategy != choice.strategy) continue;
        EXPECT_NEAR(found_speedup, choice.speedup, 1e-9);
        named.insert(choice.category);
      }
    }
  }
  EXPECT_EQ(named, (std::set<std::string>{"even", "odd"}));
  EXPECT_TRUE(advise_on(Learnt({.prompts = 1, .tokens = 60}))->by_category.empty());
}

/// A run's requests on some prompts.
RunRows on_prompts(const RunRows& run, const std::vector<traces::PromptId>& prompts) {
  RunRows subset{run.run, {}, 0};
  for (const RequestRows& rows : run.requests)
    if (std::ranges::find(prompts, rows.prompt->id) != prompts.end()) subset.requests.push_back(rows);
  return subset;
}

// A ratio of the whole run would give the category that was slower the other's speedup.
TEST(RoundsParts, OfARecordedRunHaveTheirOwnMeasuredTimes) {
  for (const auto& [draft_factor, step_factor] : {std::pair{1.6, 1.0}, {1.0, 1.3}, {0.7, 1.2}}) {
    const Learnt learnt({.skill = 0.9, .odd_draft_factor = draft_factor, .odd_step_factor = step_factor});
    const std::vector<RunRows> runs = rows_by_run(learnt.recording());
    for (const RunRows& run : runs) {
      const std::string& strategy = run.run->specification;
      const StrategyRounds rounds = learnt.what_if().rounds(strategy).value();
      for (const PartBy by : {PartBy::category, PartBy::prompt}) {
        const auto parts = parts_of(rounds, by, learnt.what_if(), learnt.recording());
        ASSERT_TRUE(parts);
        ASSERT_EQ(parts->size(), by == PartBy::category ? 2U : 12U);
        for (const RoundsPart& part : *parts) {
          const RunRows vanilla = on_prompts(*baseline_of(runs), part.rounds.prompts);
          const RunRows own = on_prompts(run, part.rounds.prompts);
          const Answer answer = answer_of(learnt, part.rounds, learnt.machine());
          constexpr double rounding = 1e-6;
          EXPECT_NEAR(answer.speedup.min_drafted.value /
                          *speedup(pair_requests(Baseline(vanilla), Comparison(own)))->decode_value,
                      1.0, rounding)
              << strategy << " on " << part.name;
          EXPECT_NEAR(answer.tokens_per_second / *throughput(own).decode_tokens_per_second, 1.0, rounding)
              << strategy << " on " << part.name;
          EXPECT_NEAR(answer.vanilla_tokens_per_second / *throughput(vanilla).decode_tokens_per_second, 1.0,
                      rounding)
              << strategy << " on " << part.name;
        }
      }
    }
  }
}

TEST(RoundsParts, OfOneCategoryAreTheWhole) {
  const Learnt learnt({.prompts = 1, .wait_us = 40.0});
  const StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  const auto parts = parts_of(rounds, PartBy::category, learnt.what_if(), learnt.recording());
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_DOUBLE_EQ(parts->front().rounds.own_ratio, rounds.own_ratio);
  EXPECT_EQ(parts->front().rounds.notes, rounds.notes);
}

TEST(RoundsParts, OfStretchesAreAsReported) {
  const Learnt learnt(
      {.prompts = 4, .tokens = 150, .skill = 0.8, .odd_draft_factor = 1.5, .odd_step_factor = 0.9});
  const char* const strategy = "layerskip:exit=3,gamma=4";
  const StrategyRounds rounds = learnt.what_if().rounds(strategy).value();
  const auto parts = parts_of(rounds, PartBy::stretch, learnt.what_if(), learnt.recording());
  ASSERT_TRUE(parts) << parts.error().message;
  std::size_t compared = 0;
  for (const StretchFigures& figures : stretches_of(learnt.recording())) {
    if (figures.prompt != nullptr || figures.run->specification != strategy) continue;
    const RoundsPart& part = (*parts)[compared++];
    const Answer answer = answer_of(learnt, part.rounds, learnt.machine());
    // Vanilla's stretches end at other tokens, and so at other contexts.
    EXPECT_NEAR(answer.speedup.min_drafted.value / figures.speedup.value(), 1.0, 0.01) << part.name;
    EXPECT_NEAR(answer.tokens_per_second / figures.tokens_per_second().value(), 1.0, 1e-6) << part.name;
  }
  EXPECT_EQ(compared, parts->size());
}

TEST(RoundsParts, OfStretchesAddUpToTheWhole) {
  const char* const stops_early = "mix:exit=4,stop=threshold,gamma=12,threshold=0.6";
  const Learnt learnt({.prompts = 4,
                       .tokens = 150,
                       .skill = 0.8,
                       .strategies = {"vanilla", "layerskip:exit=3,gamma=4", stops_early, "lookahead"},
                       .window_rows = 10});
  std::int64_t planned_beyond = 0;
  std::size_t split = 0;
  std::size_t refused = 0;
  for (const char* strategy : {"layerskip:exit=1,gamma=2", "layerskip:exit=2,gamma=5", "fs:exit=2",
                               "del:prompt-window=0", "dv:exit=2", stops_early, "lookahead"}) {
    const StrategyRounds rounds = learnt.what_if().rounds(strategy).value();
    const auto parts = parts_of(rounds, PartBy::stretch, learnt.what_if(), learnt.recording());
    ASSERT_EQ(parts.has_value(), rounds.setting.max_drafted.empty() && rounds.auxiliary_passes.empty())
        << strategy;
    if (!parts) {
      ++refused;
      continue;
    }
    ++split;
    ASSERT_EQ(parts->size(), 3U);
    EXPECT_EQ((*parts)[1].name, "64-127");
    RoundStatistics sum;
    PassCount vanilla;
    for (const RoundsPart& part : *parts) {
      EXPECT_EQ(part.rounds.setting.min_drafted.size(), 4U);
      for (const RoundStatistics& request : part.rounds.setting.min_drafted) {
        EXPECT_LT(request.tokens, 64 + 20);
        add(sum, request);
      }
      const PassCount steps = sum_of(part.rounds.vanilla);
      vanilla.passes += steps.passes;
      vanilla.context += steps.context;
      EXPECT_TRUE(ask(learnt.what_if().costs().model, part.rounds, learnt.machine(), {.draws = 200}));
    }
    RoundStatistics whole = sum_of(rounds.setting.min_drafted);
    for (RoundStatistics* both : {&sum, &whole}) std::ranges::sort(both->drafts, {}, &DraftStatistics::exit);
    EXPECT_TRUE(sum.drafts == whole.drafts) << strategy;
    for (const DraftStatistics& draft : sum.drafts) planned_beyond += draft.planned_beyond[0];
    EXPECT_EQ(sum.tokens, whole.tokens);
    EXPECT_EQ(sum.rounds, whole.rounds);
    EXPECT_EQ(sum.drafted, whole.drafted);
    EXPECT_EQ(sum.accepted, whole.accepted);
    EXPECT_EQ(sum.target_steps, whole.target_steps);
    EXPECT_EQ(sum.host_ns, whole.host_ns);
    EXPECT_EQ(vanilla, sum_of(rounds.vanilla));
  }
  EXPECT_GT(planned_beyond, 0);
  EXPECT_GE(split, 5U);
  EXPECT_GE(refused, 1U);
}

// Among settings that differ only by chance, the luckiest looks better than it is.
TEST(Advice, IsJudgedOnOtherPromptsThanItWasChosenOn) {
  double chosen = 0.0;
  double judged = 0.0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Learnt learnt({.prompts = 10, .tokens = 20, .skill = 0.8, .seed = seed});
    const auto advice = advise_on(learnt);
    ASSERT_TRUE(advice);
    EXPECT_EQ(advice->held_out.folds, 5);
    chosen += std::max(advice->speedup, 1.0);
    judged += advice->held_out.speedup.value;
  }
  EXPECT_LT(judged, chosen);
}

TEST(Advice, BreaksEvenInTheClosedForm) {
  for (const double skill : {0.7, 1.1}) {
    const Learnt learnt({.skill = skill});
    const auto advice = advise_on(learnt);
    ASSERT_TRUE(advice && advice->break_even);
    const Answer& answer = advice->answer;
    const RoundCost cost{answer.steps_per_round, answer.c, answer.v, answer.o};
    EXPECT_NEAR(round_speedup(advice->break_even->mean_accepted_length, cost).value(), 1.0, 1e-12);
    EXPECT_EQ(answer.mean_accepted_length > advice->break_even->mean_accepted_length,
              answer.speedup.min_drafted.value > 1.0);
  }
}

TEST(Advice, TurnsSpeculationOffAboveTheBatchItSays) {
  const Learnt learnt({.skill = 1.1});
  const auto advice = advise_on(learnt);
  ASSERT_TRUE(advice);
  ASSERT_GE(advice->batch.last, 1);
  ASSERT_LT(advice->batch.last, advice->batch.searched) << "a CPU's rows cost arithmetic";
  Machine machine = learnt.machine();
  machine.scenario.batch = advice->batch.last;
  EXPECT_GT(advise_on(learnt, machine)->speedup, 1.0);
  machine.scenario.batch = advice->batch.last + 1;
  const auto above = advise_on(learnt, machine);
  ASSERT_TRUE(above);
  EXPECT_LE(above->speedup, 1.0);
  EXPECT_EQ(above->verdict, Verdict::do_not_speculate);
}

TEST(Advice, ChangesAtTheContextItSays) {
  const Learnt learnt({.skill = 1.1});
  const auto advice = advise_on(learnt);
  ASSERT_TRUE(advice);
  ASSERT_TRUE(advice->context.more_rows) << "the same at every context";
  AdviceOptions options = few_draws();
  options.longer_context = *advice->context.more_rows;
  const auto there = advise_on(learnt, learnt.machine(), options);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->speedup > 1.0 ? there->fastest : "vanilla", advice->context.strategy);
  EXPECT_GT(advice->context.gain, context_tolerance);
}

TEST(Advice, BoundsWhatNearTiesCanDo) {
  // Waits give a recorded run another time than that of its passes.
  for (const double wait_us : {0.0, 40'000.0}) {
    const Learnt learnt({.skill = 1.1, .wait_us = wait_us});
    const auto advice = advise_on(learnt);
    ASSERT_TRUE(advice && advice->near_ties);
    EXPECT_EQ(advice->near_ties->positions, 12 * 39);
    EXPECT_EQ(advice->near_ties->at_risk, 12 * 4);  // Every tenth position is at risk.
    if (!advice->setting || !advice->setting->threshold) {
      EXPECT_LE(advice->near_ties->rejected, advice->speedup * (1.0 + 1e-9));
      EXPECT_GE(advice->near_ties->accepted, advice->speedup * (1.0 - 1e-9));
    }
  }
}

TEST(Advice, CountsAStrategysOwnPassesWhateverNearTiesDo) {
  const auto accepted = [](double auxiliary_factor) {
    const char* const strategy = "del:mode=repaired,verify=all-layers";
    const Learnt learnt(
        {.skill = 0.7, .strategies = {"vanilla", strategy}, .auxiliary_factor = auxiliary_factor});
    const auto effect =
        near_tie_effect(learnt.what_if(), learnt.recording(), strategy, learnt.machine(), 0).value();
    return effect.value().accepted;
  };
  EXPECT_LT(accepted(10.0), 0.9 * accepted(1.0));
}

TEST(Advice, WantsMorePromptsWhereThereIsNoInterval) {
  for (const int prompts : {1, 3}) {
    const Learnt learnt({.prompts = prompts, .tokens = 60, .skill = 1.1});
    const auto advice = advise_on(learnt);
    ASSERT_TRUE(advice) << advice.error().message;
    EXPECT_EQ(advice->verdict, Verdict::measure_first);
    EXPECT_EQ(advice->strategy, "vanilla");
    ASSERT_FALSE(advice->to_record.empty());
    EXPECT_THAT(advice->to_record.front(), HasSubstr("10 prompts"));
    EXPECT_EQ(advice->held_out.folds, prompts);
  }
}

TEST(Advice, SaysWhereItKnowsOneKindOfPromptsAlone) {
  const auto other_kinds = Contains(HasSubstr("prompts of another kind than even"));
  const auto of_one = advise_on(Learnt({.prompts = 1, .tokens = 60}));
  ASSERT_TRUE(of_one) << of_one.error().message;
  EXPECT_THAT(of_one->to_record, other_kinds);
  const auto of_both = advise_on(Learnt({.prompts = 2, .tokens = 60}));
  ASSERT_TRUE(of_both) << of_both.error().message;
  EXPECT_THAT(of_both->to_record, Not(other_kinds));
}

TEST(Advice, DoesNotKnowWhatAnotherModelAccepts) {
  const Learnt learnt({.skill = 1.1});
  const auto advice = advise_on(learnt, on_gpu(learnt, "H200-SXM5-141GB", "Llama-3-8B"));
  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_EQ(advice->verdict, Verdict::measure_first);
  EXPECT_THAT(advice->reason, HasSubstr("Llama-3-8B"));
  ASSERT_TRUE(advice->setting && advice->exit_there);
  EXPECT_EQ(*advice->exit_there, 4 * advice->setting->exit);  // The models have 8 and 32 layers.
}

TEST(Advice, RefusesInOneLine) {
  const Learnt no_vanilla({.strategies = {"layerskip:exit=3,gamma=4"}});
  const auto found = advise_on(no_vanilla);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("--strategy vanilla"));
}

TEST(Advice, WithoutShadowTokensChoosesAmongWhatRunsDrafted) {
  const Learnt shadowed({});
  const Learnt plain({.with_shadow = false});
  const auto all = candidates(plain.what_if(), plain.recording());
  ASSERT_TRUE(all) << all.error().message;
  std::set<std::int32_t> exits;
  for (const Candidate& candidate : all->all)
    if (candidate.setting) exits.insert(candidate.setting->exit);
  EXPECT_EQ(exits, (std::set<std::int32_t>{3, 5}));
  const auto advice = advise_on(plain);
  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_FALSE(advice->gaps);
  EXPECT_FALSE(advice->near_ties);
  EXPECT_THAT(advice->to_record, testing::Contains(HasSubstr("--shadow")));
  // More exits can only be faster.
  const auto with_shadow = advise_on(shadowed);
  ASSERT_TRUE(with_shadow) << with_shadow.error().message;
  EXPECT_GE(with_shadow->speedup, 0.95 * advice->speedup);
}

}  // namespace
}  // namespace draftscope::simulator
