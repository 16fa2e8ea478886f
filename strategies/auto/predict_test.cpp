// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for auto on recordings in which it did not run, whose texts and times follow a rule.
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "answers/advice/learnt.h"

namespace draftscope::simulator {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* exits = "auto:exits=3+5,formats=none";

/// A machine on which every draft step costs this share of a vanilla step.
Machine with_draft_cost(const Learnt& learnt, double share) {
  Machine machine = learnt.machine();
  machine.scenario.draft_cost = DraftCostInput{.kind = DraftCostInput::Kind::share, .share = share};
  return machine;
}

std::int64_t steps_of(const StrategyRounds& rounds) {
  std::int64_t steps = 0;
  for (const RoundStatistics& request : rounds.setting.min_drafted)
    for (const DraftStatistics& draft : request.drafts) steps += draft.steps.passes;
  return steps;
}

TEST(AutoRounds, DecodeTheRecordedTexts) {
  const Learnt learnt({});
  const auto rounds = learnt.what_if().rounds(exits);
  ASSERT_TRUE(rounds) << rounds.error().message;
  EXPECT_EQ(rounds->setting.status, AnswerStatus::approximate);
  EXPECT_EQ(rounds->source, RoundSource::modelled);
  ASSERT_EQ(rounds->setting.min_drafted.size(), rounds->vanilla.size());
  for (std::size_t i = 0; i < rounds->vanilla.size(); ++i) {
    EXPECT_EQ(rounds->setting.min_drafted[i].tokens, rounds->vanilla[i].passes);
    EXPECT_EQ(rounds->setting.min_drafted[i].tokens,
              rounds->setting.min_drafted[i].rounds + rounds->setting.min_drafted[i].accepted);
  }
  EXPECT_GT(steps_of(*rounds), 0);
  EXPECT_THAT(rounds->notes, Contains(HasSubstr("exit 3 drafts as in shadow tokens")));
  const auto again = learnt.what_if().rounds(exits);
  EXPECT_EQ(steps_of(*again), steps_of(*rounds));
}

TEST(AutoRounds, AreNearTheBestFixedExitAndNeverFarBelowVanilla) {
  for (const double skill : {0.2, 0.6, 1.0, 1.2})
    for (const unsigned seed : {1U, 2U}) {
      const Learnt learnt({.prompts = 20, .tokens = 60, .skill = skill, .seed = seed});
      double best = 1.0;
      for (const int gamma : {1, 2, 4, 8})
        for (const int exit : {3, 5})
          best = std::max(best, speedup(learnt, fmt::format("layerskip:exit={},gamma={},verify=all-layers",
                                                            exit, gamma)));
      const double found = speedup(learnt, exits);
      // auto may lose two percent and two rounds.
      EXPECT_GT(found, 0.97 * (1.0 + 0.5 * (best - 1.0))) << skill << ", best " << best;
    }
}

TEST(AutoRounds, AreOtherOnesWhereTimesAreOthers) {
  const Learnt learnt({.skill = 1.1});
  const Machine dear = with_draft_cost(learnt, 2.0);
  const Machine cheap = with_draft_cost(learnt, 0.05);
  const StrategyRounds few = learnt.what_if().rounds(exits, dear).value();
  const StrategyRounds many = learnt.what_if().rounds(exits, cheap).value();
  EXPECT_LT(steps_of(few), steps_of(many) / 4);
  // On either machine, the choices made for that machine are the fastest.
  EXPECT_GT(speedup(learnt, few, dear), speedup(learnt, many, dear));
  EXPECT_GT(speedup(learnt, many, cheap), speedup(learnt, few, cheap));
  // A strategy that does not depend on times has the same rounds on every machine.
  EXPECT_EQ(steps_of(learnt.what_if().rounds("layerskip:exit=3,gamma=2", dear).value()),
            steps_of(learnt.what_if().rounds("layerskip:exit=3,gamma=2").value()));
}

TEST(AutoRounds, WithoutShadowTokensGoByWhatRunsDrafted) {
  const ShadowedRecording what{.prompts = 20, .tokens = 60};
  ShadowedRecording plain_what = what;
  plain_what.with_shadow = false;
  const Learnt shadowed(what);
  const Learnt plain(plain_what);
  const auto rounds = plain.what_if().rounds(exits);
  ASSERT_TRUE(rounds) << rounds.error().message;
  EXPECT_THAT(rounds->notes, Contains(HasSubstr("exit 3 drafts as in run layerskip:exit=3,gamma=4")));
  EXPECT_NEAR(speedup(plain, exits), speedup(shadowed, exits), 0.1 * speedup(shadowed, exits));
}

TEST(AutoRounds, LeaveOutOrRefuseADrafterThatNobodyRecorded) {
  const Learnt plain({.with_shadow = false});
  const auto named = plain.what_if().rounds("auto:exits=4");
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message, HasSubstr("found nothing drafted by exit 4, expected a recorded run"));
  const auto format = plain.what_if().rounds("auto:formats=q4_0");
  ASSERT_FALSE(format);
  EXPECT_THAT(format.error().message, HasSubstr("quantised:weights=q4_0"));
  const auto unnamed = plain.what_if().rounds("auto");
  ASSERT_TRUE(unnamed) << unnamed.error().message;
  EXPECT_THAT(unnamed->notes, Contains(HasSubstr("left out: q8_0")));
  EXPECT_EQ(steps_of(*unnamed), 0);
}

TEST(AutoRounds, ObeyTheOptionsOfTheRule) {
  const Learnt learnt({.skill = 1.1});
  const auto widest = [&](const std::string& strategy) {
    std::size_t rows = 0;
    const StrategyRounds rounds = learnt.what_if().rounds(strategy).value();
    for (const RoundStatistics& request : rounds.setting.min_drafted)
      for (const DraftStatistics& draft : request.drafts) rows = std::max(rows, draft.verify.size());
    return rows;
  };
  EXPECT_LE(widest("auto:exits=3+5,formats=none,max-gamma=2"), 4U);
  EXPECT_GT(widest("auto:exits=3+5,formats=none,max-gamma=12"), 4U);
  // With nothing to lose beyond two rounds, auto makes fewer trials.
  EXPECT_LE(steps_of(learnt.what_if().rounds("auto:exits=1,formats=none,loss=0.001").value()),
            steps_of(learnt.what_if().rounds("auto:exits=1,formats=none,loss=0.5").value()));
}

TEST(Candidates, HaveAutoWithWhatIsKnownOfItsDraftersAndSuffixDecoding) {
  const Learnt learnt({});
  const auto found = candidates(learnt.what_if(), learnt.recording());
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::string> names;
  for (const Candidate& candidate : found->all) names.push_back(candidate.rounds.strategy);
  EXPECT_THAT(names, Contains("auto:formats=none"));
  EXPECT_THAT(names, Contains("suffix-decoding"));
}

}  // namespace
}  // namespace draftscope::simulator
