// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/advice.h>
#include <gtest/gtest.h>

#include <set>

#include "learnt.h"

namespace draftscope::simulator {
namespace {

CandidateOptions few() {
  return {.longest = 3, .threshold_lengths = {4}, .thresholds = {0.5, 0.8}};
}

TEST(Candidates, AreEveryExitsSettingsAndTheRecordedRuns) {
  const Learnt learnt({});
  std::int64_t told = 0;
  CandidateOptions options = few();
  options.strategies = {"fs:exit=2"};
  options.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_EQ(done, ++told);
    EXPECT_EQ(all, 7 * (3 + 2));
    return true;
  };
  const auto found = candidates(learnt.what_if(), learnt.recording(), options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(told, 35);
  EXPECT_EQ(found->all.size(), 2U + 1U + options.lengths.size() + 2U + 2U * 35U)
      << "recorded, asked, lookups, suffix decoding and auto, exits";
  EXPECT_TRUE(found->left_out.empty());
  std::set<std::string> names;
  for (const Candidate& candidate : found->all) {
    EXPECT_TRUE(names.insert(candidate.rounds.strategy).second) << candidate.rounds.strategy;
    ASSERT_EQ(candidate.rounds.setting.min_drafted.size(), found->prompts.size());
    for (std::size_t i = 0; i < found->prompts.size(); ++i)
      EXPECT_EQ(candidate.rounds.setting.min_drafted[i].tokens, found->vanilla[i].tokens);
    if (candidate.setting) {
      EXPECT_EQ(candidate.rounds.verified_layers, candidate.setting->verified_layers);
    }
  }
  EXPECT_TRUE(names.contains("fs:exit=2"));
  EXPECT_TRUE(names.contains("layerskip:exit=7,gamma=1"));
  EXPECT_TRUE(names.contains("layerskip:exit=7,gamma=1,verify=all-layers"));
}

TEST(Candidates, AreStoppedWhenTheyAreToldTo) {
  const Learnt learnt({});
  CandidateOptions options = few();
  std::int64_t told = 0;
  options.progress = [&](std::int64_t done, std::int64_t) {
    told = done;
    return done < 3;
  };
  const auto found = candidates(learnt.what_if(), learnt.recording(), options);
  ASSERT_FALSE(found);
  EXPECT_EQ(told, 3);
}

TEST(Candidates, KnowARecordedRunByItsSetting) {
  const Learnt learnt({.strategies = {"vanilla", "layerskip:gamma=2,exit=3"}});
  const auto found = candidates(learnt.what_if(), learnt.recording(), few());
  ASSERT_TRUE(found);
  const Candidate& recorded = found->all.front();
  EXPECT_EQ(recorded.rounds.strategy, "layerskip:gamma=2,exit=3");
  ASSERT_TRUE(recorded.setting);
  EXPECT_EQ(recorded.setting->exit, 3);
  EXPECT_EQ(recorded.setting->gamma, 2);
  EXPECT_EQ(found->all.size(), few().lengths.size() + 2U + 2U * 35U);
}

TEST(Candidates, HaveTheRoundsThatSimulateAnswersWith) {
  const Learnt learnt({});
  const auto found = candidates(learnt.what_if(), learnt.recording(), few());
  ASSERT_TRUE(found);
  for (const Candidate& candidate : found->all) {
    const auto rounds = learnt.what_if().rounds(candidate.rounds.strategy);
    ASSERT_TRUE(rounds) << rounds.error().message;
    EXPECT_EQ(rounds->setting.status, candidate.rounds.setting.status);
    EXPECT_EQ(rounds->verified_layers, candidate.rounds.verified_layers) << candidate.rounds.strategy;
    std::int64_t drafted = 0;
    for (const RoundStatistics& request : rounds->setting.min_drafted) drafted += request.drafted;
    for (const RoundStatistics& request : candidate.rounds.setting.min_drafted) drafted -= request.drafted;
    EXPECT_EQ(drafted, 0) << candidate.rounds.strategy;
  }
}

}  // namespace
}  // namespace draftscope::simulator
