// SPDX-License-Identifier: GPL-3.0-or-later
// Selection of the recorded run that answers a question, among many, and where its measured times count.
//
// Contexts that notes count as measured: those that the recording's texts reach.
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "advice/learnt.h"

namespace draftscope::simulator {

namespace {

std::string setting(int exit, int gamma, bool exit_first) {
  return exit_first ? fmt::format("layerskip:exit={},gamma={}", exit, gamma)
                    : fmt::format("layerskip:gamma={},exit={}", gamma, exit);
}

/// Every setting once, some twice with their parameters reversed, in random order.
std::vector<std::string> settings(std::mt19937& random) {
  std::vector<std::string> all;
  for (int exit = 1; exit < shadowed_layers; ++exit)
    for (int gamma = 1; gamma <= 6; ++gamma) {
      const bool exit_first = random() % 2 == 0;
      all.push_back(setting(exit, gamma, exit_first));
      if (random() % 4 == 0) all.push_back(setting(exit, gamma, !exit_first));
    }
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

/// Counts of a run's rounds, searched among all rows.
RoundStatistics counted(const traces::Recording& recording, const traces::Run& run) {
  RoundStatistics sum;
  std::set<traces::RequestId> requests;
  for (const traces::Request& request : recording.requests)
    if (request.run_id == run.id) requests.insert(request.id);
  for (const traces::Round& round : recording.rounds) {
    if (!requests.contains(round.request_id)) continue;
    ++sum.rounds;
    sum.tokens += round.emitted;
    sum.drafted += round.drafted;
    sum.accepted += round.accepted;
  }
  return sum;
}

TEST(RecordedRounds, AreOfTheFirstRunOfTheSettingInWhateverOrderItsParametersAre) {
  std::mt19937 random(5);
  for (int recordings = 0; recordings < 3; ++recordings) {
    std::vector<std::string> strategies = settings(random);
    strategies.insert(strategies.begin() + static_cast<std::ptrdiff_t>(random() % strategies.size()),
                      "vanilla");
    const Learnt learnt(
        {.prompts = 2, .tokens = 16, .skill = 0.7, .strategies = strategies, .with_shadow = false});
    const std::vector<traces::Run>& runs = learnt.recording().runs;
    ASSERT_EQ(runs.size(), strategies.size());
    for (int exit = 1; exit < shadowed_layers; ++exit)
      for (int gamma = 1; gamma <= 6; ++gamma) {
        const auto first = std::find_if(runs.begin(), runs.end(), [&](const traces::Run& run) {
          return run.specification == setting(exit, gamma, true) ||
                 run.specification == setting(exit, gamma, false);
        });
        const RoundStatistics expected = counted(learnt.recording(), *first);
        for (const bool exit_first : {true, false}) {
          const auto rounds = learnt.what_if().rounds(setting(exit, gamma, exit_first));
          ASSERT_TRUE(rounds) << rounds.error().message;
          EXPECT_EQ(rounds->strategy, first->specification);
          const RoundStatistics found = sum_of(rounds->setting.min_drafted);
          EXPECT_EQ(found.rounds, expected.rounds) << first->specification;
          EXPECT_EQ(found.tokens, expected.tokens) << first->specification;
          EXPECT_EQ(found.drafted, expected.drafted) << first->specification;
          EXPECT_EQ(found.accepted, expected.accepted) << first->specification;
        }
      }
  }
}

TEST(RecordedRounds, AreOfNoRunThatWasInterruptedBeforeItHadAny) {
  const std::string once = "layerskip:exit=5,gamma=4";
  const std::string twice = setting(3, 4, true);
  const std::string again = setting(3, 4, false);
  const Learnt learnt({.strategies = {"vanilla", once, twice, again}}, [&](traces::Recording& recording) {
    for (const traces::Run& run : recording.runs)
      for (traces::Request& request : recording.requests)
        if (request.run_id == run.id && (run.specification == once || run.specification == twice))
          request.stop = traces::RequestStop::cancelled;
  });
  const auto replayed = learnt.what_if().rounds(once);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed->source, RoundSource::replayed);
  const auto recorded = learnt.what_if().rounds(twice);
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_EQ(recorded->source, RoundSource::recorded);
  EXPECT_EQ(recorded->strategy, again);
}

TEST(RecordedRounds, DoNotScaleADraftCostThatIsAnInput) {
  const Learnt learnt({});
  const CostModel& model = learnt.what_if().costs().model;
  StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  Machine machine = learnt.machine();
  const auto asked = [&](double own_ratio) {
    rounds.own_ratio = rounds.own_draft_ratio = rounds.own_verify_ratio = own_ratio;
    return answer_of(learnt, rounds, machine);
  };
  const double priced = asked(1.0).c;
  EXPECT_NEAR(asked(2.0).c, 2.0 * priced, 1e-9);
  EXPECT_EQ(own_time_ratio(model, rounds, machine).value(), 2.0);

  machine.scenario.draft_cost = DraftCostInput{.kind = DraftCostInput::Kind::share, .share = 0.05};
  const Answer usual = asked(1.0);
  const Answer slower = asked(2.0);
  // A vanilla step of the unit has the rest of its round too.
  EXPECT_NEAR(slower.c, 0.05, 0.005);
  EXPECT_DOUBLE_EQ(slower.c, usual.c);
  EXPECT_DOUBLE_EQ(slower.v, usual.v);
  EXPECT_DOUBLE_EQ(slower.tokens_per_second, usual.tokens_per_second);
  EXPECT_EQ(own_time_ratio(model, rounds, machine).value(), 1.0);
}

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

double longest_context(const traces::Recording& recording) {
  std::int32_t longest = 0;
  for (const traces::Round& round : recording.rounds)
    longest = std::max(longest, round.root_position + round.tree_depth);
  return longest;
}

std::vector<std::string> notes_of(const Learnt& learnt, const StrategyRounds& rounds) {
  std::vector<std::string> notes;
  const Answer answer = answer_of(learnt, rounds, learnt.machine());
  for (const CostNote& note : answer.cost_notes) notes.push_back(note.text);
  return notes;
}

TEST(RecordedContext, IsTheLongestOfTheRecordedTexts) {
  const Learnt learnt({});
  EXPECT_EQ(learnt.what_if().recorded_scenario().context, longest_context(learnt.recording()));
}

TEST(RecordedContext, IsNotHeldToBeExtrapolated) {
  const Learnt learnt({});
  for (const char* strategy : {"layerskip:exit=3,gamma=4", "layerskip:exit=2,gamma=7"}) {
    const StrategyRounds rounds = learnt.what_if().rounds(strategy).value();
    EXPECT_THAT(notes_of(learnt, rounds), Not(Contains(HasSubstr("contexts beyond")))) << strategy;
  }
}

TEST(RecordedContext, ReachesAsFarAsItIsLengthened) {
  const Learnt learnt({});
  StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  lengthen_context(rounds, 512);
  const double longest = longest_context(learnt.recording());
  EXPECT_THAT(notes_of(learnt, rounds),
              Contains(fmt::format("contexts beyond {:.0f} rows are extrapolated, up to {:.0f}", longest,
                                   longest + 512)));
}

}  // namespace

}  // namespace draftscope::simulator
