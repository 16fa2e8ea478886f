// SPDX-License-Identifier: GPL-3.0-or-later
// Compares settings whose draft was recorded, asked of a recording without shadow tokens, with a replay of
// the same recording's shadow tokens, which has every position.
#include <draftscope/simulator/answers/advice.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../../answers/advice/learnt.h"
#include "rounds/replay/acceptance_models.h"

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;

const ShadowedRecording with_shadow{.prompts = 20, .tokens = 60};

ShadowedRecording without_shadow() {
  ShadowedRecording what = with_shadow;
  what.with_shadow = false;
  return what;
}

RoundStatistics all_of(const StrategyRounds& rounds) {
  return sum_of(rounds.setting.min_drafted);
}

bool has_note(const StrategyRounds& rounds, const std::string& part) {
  return std::any_of(rounds.notes.begin(), rounds.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(DraftedRounds, AreTheReplayedOnesWhereNothingIsDrawn) {
  const Learnt shadowed(with_shadow);
  const Learnt plain(without_shadow());
  int exact = 0;
  for (const char* const setting :
       {"layerskip:exit=3,gamma=4", "layerskip:exit=3,gamma=2", "layerskip:exit=3,gamma=3",
        "layerskip:exit=5,gamma=2", "layerskip:exit=5,gamma=8", "fs:exit=5,gamma=2", "dv:exit=5"}) {
    const auto replayed = shadowed.what_if().rounds(setting);
    const auto drafted = plain.what_if().rounds(setting);
    ASSERT_TRUE(replayed) << replayed.error().message;
    ASSERT_TRUE(drafted) << drafted.error().message;
    EXPECT_EQ(all_of(*drafted).tokens, all_of(*replayed).tokens) << setting;
    EXPECT_EQ(drafted->vanilla.size(), replayed->vanilla.size());
    if (has_note(*drafted, "drawn")) {
      EXPECT_EQ(drafted->setting.status, AnswerStatus::approximate);
      continue;
    }
    ++exact;
    EXPECT_EQ(all_of(*drafted).rounds, all_of(*replayed).rounds) << setting;
    EXPECT_EQ(all_of(*drafted).accepted, all_of(*replayed).accepted) << setting;
  }
  EXPECT_GE(exact, 1);
}

TEST(DraftedRounds, AreNearTheReplayedOnesWhereSomeAreDrawn) {
  const Learnt shadowed(with_shadow);
  const Learnt plain(without_shadow());
  for (const char* const setting : {"layerskip:exit=5,gamma=12", "layerskip:exit=3,gamma=8", "fs:exit=5"}) {
    const RoundStatistics truth = all_of(shadowed.what_if().rounds(setting).value());
    const RoundStatistics found = all_of(plain.what_if().rounds(setting).value());
    const auto truly = static_cast<double>(truth.rounds);
    EXPECT_NEAR(static_cast<double>(found.rounds), truly, 0.1 * truly) << setting;
  }
}

/// The recording's swift drafts as exit 6 does, which shadow tokens replay.
TEST(DraftedRounds, OfTreesAreNearTheReplayedOnes) {
  ShadowedRecording what = with_shadow;
  what.strategies = {"vanilla", "swift"};
  const Learnt learnt(what);
  for (const char* const setting :
       {"gamma=25,threshold=0.95", "gamma=25,threshold=0.7", "gamma=3,threshold=0.8",
        "gamma=25,threshold=0.8,widths=greedy-code", "gamma=6,threshold=0.9,widths=greedy-code"}) {
    const auto replayed =
        learnt.what_if().rounds(fmt::format("mix:mask=exit,exit=6,stop=threshold,shape=tree,{}", setting));
    const auto drafted = learnt.what_if().rounds(fmt::format("swift:{}", setting));
    ASSERT_TRUE(replayed) << replayed.error().message;
    ASSERT_TRUE(drafted) << drafted.error().message;
    const RoundStatistics truth = all_of(*replayed);
    const RoundStatistics found = all_of(*drafted);
    EXPECT_EQ(found.tokens, truth.tokens);
    EXPECT_NEAR(static_cast<double>(found.rounds), static_cast<double>(truth.rounds),
                0.1 * static_cast<double>(truth.rounds))
        << setting;
  }
}

/// Every token of the draft is wrong, and below the threshold. So each draft has one step, at which its run
/// drafted, too. Some steps had the right sibling, others none.
TEST(DraftedRounds, GoByStepsWithoutARightSiblingAsDrafted) {
  ShadowedRecording what = without_shadow();
  what.skill = 0.0;
  what.strategies.emplace_back("swift");
  const Learnt learnt(what);
  const auto shorter = learnt.what_if().rounds("swift:gamma=3");
  ASSERT_TRUE(shorter) << shorter.error().message;
  EXPECT_TRUE(has_note(*shorter, "what run swift drafted"));
  EXPECT_FALSE(has_note(*shorter, "were not drafted"));
  EXPECT_GT(all_of(*shorter).accepted, 0);
  EXPECT_LT(all_of(*shorter).accepted, all_of(*shorter).rounds);
}

TEST(DraftedRounds, OfTheRecordedRulesAreTheRecordedOnesByAnyName) {
  ShadowedRecording what = without_shadow();
  what.strategies = {"vanilla", "swift", "layerskip:exit=3,gamma=4"};
  const Learnt learnt(what);
  for (const auto& [asked, recorded] :
       {std::pair("swift:gamma=25,ratio=0.45", "swift"),
        std::pair("mix:mask=swift,shape=tree,stop=threshold,threshold=0.8,gamma=25", "swift"),
        std::pair("layerskip:acceptance=block,exit=3,gamma=4", "layerskip:exit=3,gamma=4")}) {
    const auto rounds = learnt.what_if().rounds(asked);
    ASSERT_TRUE(rounds) << rounds.error().message;
    EXPECT_EQ(rounds->strategy, asked);
    EXPECT_EQ(rounds->setting.status, AnswerStatus::exact) << asked;
    EXPECT_EQ(all_of(*rounds).drafted, all_of(learnt.what_if().rounds(recorded).value()).drafted);
  }
}

TEST(DraftedRounds, OfAnotherSearchLieAroundTheRecordedOnes) {
  ShadowedRecording what = without_shadow();
  what.strategies = {"vanilla", "swift"};
  const Learnt learnt(what);
  const std::int64_t recorded = all_of(learnt.what_if().rounds("swift").value()).rounds;
  const auto rounds = learnt.what_if().rounds("swift:every=4,window=16");
  ASSERT_TRUE(rounds) << rounds.error().message;
  EXPECT_TRUE(has_note(*rounds, "is not replayed: it would be one with every=4 for 1, window=16 for 32"));
  EXPECT_EQ(rounds->setting.status, AnswerStatus::approximate);
  EXPECT_LT(sum_of(rounds->setting.min_drafted).rounds, recorded);
  EXPECT_GT(sum_of(rounds->setting.max_drafted).rounds, recorded);
}

TEST(DraftedRounds, OfATreeNeedARecordedOne) {
  ShadowedRecording what = without_shadow();
  what.strategies = {"vanilla", "clasp"};
  const Learnt learnt(what);
  EXPECT_TRUE(learnt.what_if().rounds("clasp:threshold=0.5"));
  const auto tree = learnt.what_if().rounds("mix:mask=clasp,shape=tree,gamma=8");
  ASSERT_FALSE(tree);
  EXPECT_THAT(tree.error().message, HasSubstr("run clasp drafted no siblings, expected a run of the same"));
}

/// The least confident quarter is all right, though other tokens were wrong.
TEST(DraftedRounds, AreAsManyInAHardCaseWithoutAWrongToken) {
  ShadowedRecording what = without_shadow();
  what.strategies = {"vanilla", "clasp:skip=2,gamma=4,threshold=0"};
  const Learnt learnt(what, [](traces::Recording& recording) {
    for (traces::DraftToken& token : recording.draft_tokens) token.confidence = token.accepted ? 0.2 : 0.8;
  });
  const auto longer = learnt.what_if().rounds("clasp:skip=2,gamma=8,threshold=0");
  ASSERT_TRUE(longer) << longer.error().message;
  ASSERT_TRUE(has_note(*longer, "as hard as the least confident quarter"));
  const auto usual = static_cast<double>(all_of(*longer).rounds);
  EXPECT_LT(static_cast<double>(sum_of(longer->setting.max_drafted).rounds), 1.1 * usual);
}

TEST(DraftedRounds, OfAnotherLengthOfTwoModelsKeepTheDraftModelsPrice) {
  ShadowedRecording what = without_shadow();
  what.with_two_models = true;
  const Learnt learnt(what);
  const auto recorded = learnt.what_if().rounds(two_models);
  const auto shorter = learnt.what_if().rounds("two-model:model=small,gamma=2");
  ASSERT_TRUE(recorded) << recorded.error().message;
  ASSERT_TRUE(shorter) << shorter.error().message;
  EXPECT_EQ(all_of(*shorter).tokens, all_of(*recorded).tokens);
  EXPECT_GE(all_of(*shorter).rounds, all_of(*recorded).rounds);
  EXPECT_LT(all_of(*shorter).drafted, all_of(*recorded).drafted);
  ASSERT_TRUE(shorter->draft_model);
  EXPECT_EQ(shorter->draft_model->n_layers, recorded->draft_model->n_layers);
  EXPECT_FALSE(shorter->auxiliary_passes.empty());
}

TEST(DraftedRounds, VaryFromRequestToRequest) {
  const Learnt plain(without_shadow());
  const auto rounds = plain.what_if().rounds("layerskip:exit=5,gamma=12").value();
  std::set<std::int64_t> different;
  for (const RoundStatistics& request : rounds.setting.min_drafted) different.insert(request.rounds);
  EXPECT_GT(different.size(), 3U) << "an interval over requests sees what requests have of their own";
}

/// The shipped recording, which has a run of clasp:skip=4.
class SampleRecording : public testing::Test {
 protected:
  Result<StrategyRounds> rounds(const std::string& strategy) const {
    return learnt_.what_if().rounds(strategy);
  }
  double accepted_share(const std::string& strategy) const {
    const RoundStatistics all = all_of(rounds(strategy).value());
    return static_cast<double>(all.accepted) / static_cast<double>(all.drafted);
  }

 private:
  Learnt learnt_ = Learnt::from_file(DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace");
};

TEST_F(SampleRecording, AnswersOtherNumbersOfSkippedLayers) {
  const auto fewer = rounds("clasp:skip=2,threshold=0");
  const auto more = rounds("clasp:skip=8,threshold=0");
  ASSERT_TRUE(fewer) << fewer.error().message;
  ASSERT_TRUE(more) << more.error().message;
  EXPECT_TRUE(has_note(*fewer, "nobody drafted with this set"));
  EXPECT_EQ(fewer->setting.status, AnswerStatus::approximate);
  EXPECT_GT(accepted_share("clasp:skip=2,threshold=0"), accepted_share("clasp:skip=8,threshold=0"));
  ASSERT_FALSE(fewer->drafts.empty());
  EXPECT_EQ(fewer->drafts.front().attention, 10);
  EXPECT_EQ(more->drafts.front().mlp, 4);
}

TEST_F(SampleRecording, AnswersSetsThatNobodyRecorded) {
  const auto listed = rounds("draft-verify:skip-attention=3+5,gamma=4");
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_TRUE(has_note(*listed, "sets that were tried"));
  EXPECT_EQ(listed->drafts.front().attention, 10);
  EXPECT_EQ(listed->drafts.front().mlp, 12);
  ASSERT_FALSE(listed->setting.max_drafted.empty());
  const auto none = rounds("draft-verify");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("expected skip-attention or skip-mlp"));
}

TEST_F(SampleRecording, CountsSearchesOfAnotherScheduleAnew) {
  const auto often = rounds("clasp:skip=4,interval=8");
  const auto seldom = rounds("clasp:skip=4,interval=500");
  ASSERT_TRUE(often) << often.error().message;
  ASSERT_TRUE(seldom) << seldom.error().message;
  const auto auxiliary_passes = [](const StrategyRounds& rounds) {
    std::int64_t passes = 0;
    for (const PassCount& own : all_of(rounds).auxiliary) passes += own.passes;
    return passes;
  };
  EXPECT_GT(auxiliary_passes(*often), auxiliary_passes(*seldom));
}

TEST(Candidates, HaveOtherLengthsOfDraftsThatAreNoExits) {
  ShadowedRecording what = without_shadow();
  what.with_two_models = true;
  const Learnt learnt(what);
  const auto found = candidates(learnt.what_if(), learnt.recording());
  ASSERT_TRUE(found) << found.error().message;
  std::set<std::string> lengths;
  for (const Candidate& candidate : found->all)
    if (candidate.rounds.strategy.starts_with("two-model")) lengths.insert(candidate.rounds.strategy);
  // The recorded run gives its length; the options' lengths are asked instead.
  for (const std::int32_t gamma : CandidateOptions().lengths)
    EXPECT_TRUE(lengths.contains(fmt::format("two-model:model=small,gamma={}", gamma))) << gamma;
}

TEST(DraftedRounds, OfADraftThatNobodyRecordedAreRefused) {
  const Learnt plain(without_shadow());
  for (const auto& [setting, part] :
       {std::pair("layerskip:exit=4", "the same draft (exit 4)"),
        std::pair("clasp:skip=2", "or of the same search"),
        std::pair("two-model:model=small", "two-model, model small"), std::pair("del", "shadow"),
        std::pair("lookahead", "expected one of window 7"),
        std::pair("jacobi", "expected a run of jacobi")}) {
    const auto rounds = plain.what_if().rounds(setting);
    ASSERT_FALSE(rounds) << setting;
    EXPECT_THAT(rounds.error().message, HasSubstr(part));
  }
}

}  // namespace
}  // namespace draftscope::simulator
