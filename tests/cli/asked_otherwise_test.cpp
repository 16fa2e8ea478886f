// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that were not recorded are predicted from a recording and compared with another one that has them.
#include <draftscope/simulator/answers/what_if.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/searches/redrafted_run.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using simulator::AnswerStatus;
using simulator::StrategyRounds;
using testing::Contains;
using testing::HasSubstr;

std::filesystem::path record(const std::filesystem::path& path, const std::string& more) {
  record_trace(path, "--quiet --repeats 1 " + more);
  return path;
}

/// A recording with everything that questions need of it.
struct Asked {
  explicit Asked(const std::filesystem::path& path)
      : reader(traces::Reader::open(path).value()),
        recording(reader.recording().value()),
        what_if(simulator::WhatIf::train(reader, recording).value()) {}

  [[nodiscard]] StrategyRounds rounds(const std::string& strategy) const {
    auto found = what_if.rounds(strategy);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *std::move(found) : StrategyRounds{};
  }

  traces::Reader reader;
  traces::Recording recording;
  simulator::WhatIf what_if;
};

double tokens_per_round(const std::vector<simulator::RoundStatistics>& requests) {
  const auto all = simulator::sum_of(requests);
  return static_cast<double>(all.tokens) / static_cast<double>(all.rounds);
}

double tokens_per_round(const StrategyRounds& rounds) {
  return tokens_per_round(rounds.setting.min_drafted);
}

TEST(AskedOtherwise, BlocksKeepWhatTheirLawExpectsOfRecordedDrafts) {
  const TemporaryFolder folder;
  const std::string by_token = "layerskip:exit=6,gamma=4";
  const std::string by_block = by_token + ",acceptance=block";
  const std::string sampled = "--limit 6 --max-tokens 60 --temperature 1 --shadow -s " + by_token;
  const Asked tokens(record(folder / "tokens.dstrace", sampled));
  const Asked blocks(record(folder / "blocks.dstrace", sampled + " -s " + by_block));

  const StrategyRounds asked = tokens.rounds(by_block);
  EXPECT_EQ(asked.setting.status, AnswerStatus::approximate);
  EXPECT_THAT(asked.notes, Contains(HasSubstr("a block is expected to keep")));
  const double before = tokens_per_round(tokens.rounds(by_token));
  const double recorded = tokens_per_round(blocks.rounds(by_block));
  const double answered = tokens_per_round(asked);
  EXPECT_GT(answered, before);
  EXPECT_LT(answered, before * 1.15);
  // The tolerance is three standard errors of some 110 rounds with 1 to 5 tokens.
  EXPECT_NEAR(answered, recorded, 0.45);
  // With a longer text in as many rounds, vanilla decoding takes correspondingly more steps.
  const auto all = simulator::sum_of(asked.setting.min_drafted);
  std::int64_t steps = 0;
  for (const auto& vanilla : asked.vanilla) steps += vanilla.passes;
  EXPECT_NEAR(static_cast<double>(steps), static_cast<double>(all.tokens), 6.0);
}

TEST(AskedOtherwise, BlocksAreTakenForTokensWithoutWhatTheirLawNeeds) {
  const TemporaryFolder folder;
  const std::string by_token = "layerskip:exit=6,gamma=4";
  const Asked plain(
      record(folder / "plain.dstrace", "--limit 2 --max-tokens 20 --temperature 1 -s " + by_token));
  const StrategyRounds asked = plain.rounds(by_token + ",acceptance=block");
  EXPECT_THAT(asked.notes, Contains(HasSubstr("the recording lacks what the target gave each draft token")));
  EXPECT_EQ(tokens_per_round(asked), tokens_per_round(plain.rounds(by_token)));
}

/// Whether a search followed each round of a run, compared with the schedule's answer.
void expect_the_engines_schedule(const Asked& asked, const std::string& name) {
  for (const simulator::RunRows& run : simulator::rows_by_run(asked.recording)) {
    const auto strategy = simulator::run_specification(*run.run, 12).value();
    if (strategy.name() != name) continue;
    simulator::SearchSchedule schedule(strategy, 12, -1);
    int searches = 0;
    for (const simulator::RequestRows& rows : run.requests) {
      std::vector<traces::Round> rounds(rows.rounds.begin(), rows.rounds.end());
      simulator::mark_searches(schedule, rounds);
      for (std::size_t i = 0; i + 1 < rounds.size(); ++i) {
        EXPECT_EQ(rounds[i].optimise_ns > 0, rows.rounds[i].optimise_ns > 0) << name << ", round " << i;
        searches += rounds[i].optimise_ns > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(searches, 2) << name;
    return;
  }
  FAIL() << "expected a run of " << name;
}

TEST(AskedOtherwise, SearchesOfKnapSpecAreCountedAnew) {
  const TemporaryFolder folder;
  const Asked asked(
      record(folder / "run.dstrace", "--limit 3 --max-tokens 48 -s vanilla -s knapspec:interval=3,gamma=3"));
  expect_the_engines_schedule(asked, "knapspec");
  const StrategyRounds recorded = asked.rounds("knapspec:interval=3,gamma=3");
  const StrategyRounds often = asked.rounds("knapspec:interval=1,gamma=3");
  const StrategyRounds seldom = asked.rounds("knapspec:interval=50,gamma=3");
  EXPECT_EQ(often.setting.status, AnswerStatus::approximate);
  // Younger sets may be better or worse: the recorded rounds lie between both cases.
  EXPECT_GE(tokens_per_round(often), tokens_per_round(recorded));
  EXPECT_LE(tokens_per_round(often.setting.max_drafted), tokens_per_round(recorded));
  EXPECT_THAT(often.notes, Contains(HasSubstr("is replayed with interval=1 for 3")));
  const auto passes = [](const StrategyRounds& rounds) {
    std::int64_t sum = 0;
    for (const auto& count : simulator::sum_of(rounds.setting.min_drafted).auxiliary) sum += count.passes;
    return sum;
  };
  EXPECT_GT(passes(often), passes(recorded));
  EXPECT_GT(passes(recorded), passes(seldom));
  EXPECT_GT(passes(seldom), 0) << "one follows the prefill";
  const StrategyRounds longer = asked.rounds("knapspec:interval=3,gamma=2");
  EXPECT_LT(tokens_per_round(longer), tokens_per_round(recorded) + 1e-9) << "shorter drafts keep no more";
}

TEST(AskedOtherwise, GuessesFromTextsAreTheRecordedOnes) {
  const TemporaryFolder folder;
  const std::vector<std::string> guesses{"suffix-decoding:depth=6,alpha=2,min-probability=0.2",
                                         "suffix-decoding:shape=tree,across=no,length=9",
                                         "prompt-lookup:match=longest,length=4"};
  const std::string common = "--limit 8 --max-tokens 64 -s vanilla";
  std::string with = common;
  for (const std::string& strategy : guesses) with += " -s " + strategy;
  const Asked recorded(record(folder / "guesses.dstrace", with));
  const Asked plain(record(folder / "plain.dstrace", common));
  for (const std::string& strategy : guesses) {
    const auto truth = simulator::sum_of(recorded.rounds(strategy).setting.min_drafted);
    const StrategyRounds asked = plain.rounds(strategy);
    const auto found = simulator::sum_of(asked.setting.min_drafted);
    EXPECT_EQ(asked.setting.status, AnswerStatus::exact) << strategy;
    EXPECT_EQ(std::tuple(found.rounds, found.tokens, found.drafted, found.accepted),
              std::tuple(truth.rounds, truth.tokens, truth.drafted, truth.accepted))
        << strategy;
    EXPECT_GT(found.accepted, 5) << strategy;
  }
}

TEST(AskedOtherwise, TokenRecyclingFollowsFromTreesAndTextsAsFarAsTheyTell) {
  const TemporaryFolder folder;
  const std::string common = "--limit 6 --max-tokens 64 -s vanilla";
  const std::string small = "token-recycling:nodes=12,successors=4,depth=4";
  const Asked large(record(folder / "large.dstrace", common + " -s token-recycling:nodes=60"));
  const Asked recorded(record(folder / "small.dstrace", common + " -s " + small));
  const Asked plain(record(folder / "plain.dstrace", common));
  const double truth = tokens_per_round(recorded.rounds(small));
  const StrategyRounds by_trees = large.rounds(small);
  const StrategyRounds by_texts = plain.rounds(small);
  EXPECT_EQ(by_trees.setting.status, AnswerStatus::approximate);
  EXPECT_EQ(by_texts.setting.status, AnswerStatus::approximate);
  EXPECT_THAT(by_trees.notes, Contains(HasSubstr("taken from the trees of run token-recycling:nodes=60")));
  EXPECT_THAT(by_texts.notes, Contains(HasSubstr("what followed in the texts is taken to be kept")));
  EXPECT_GT(truth, 1.15);
  EXPECT_NEAR(tokens_per_round(by_trees), truth, 0.08 * truth);
  EXPECT_NEAR(tokens_per_round(by_texts), truth, 0.15 * truth);
}

TEST(AskedOtherwise, CascadesAreTheirRecordedRoundsWithTheirPasses) {
  const TemporaryFolder folder;
  const std::string cascade = "cascade:levels=exit-4+exit-8,gamma=6";
  const Asked asked(record(folder / "run.dstrace", "--limit 3 --max-tokens 48 -s vanilla -s " + cascade));
  const StrategyRounds recorded = asked.rounds(cascade);
  EXPECT_GT(tokens_per_round(recorded), 1.2);
  ASSERT_FALSE(recorded.auxiliary_passes.empty());
  for (const simulator::AuxiliaryPass& pass : recorded.auxiliary_passes) {
    EXPECT_TRUE(pass.attention == 4 || pass.attention == 8);
    EXPECT_EQ(pass.attention, pass.mlp);
    EXPECT_TRUE(pass.has_head);
  }
  const StrategyRounds same = asked.rounds("cascade:gamma=6,siblings=2,levels=exit-4+exit-8");
  EXPECT_EQ(same.setting.status, AnswerStatus::exact);
  EXPECT_EQ(tokens_per_round(same), tokens_per_round(recorded));
  const auto refused = asked.what_if.rounds("cascade:levels=exit-3,gamma=6,nodes=16");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("levels=exit-3 (recorded: exit-4+exit-8), nodes=16 "
                                                 "(recorded: 32)"));
}

}  // namespace
}  // namespace draftscope::cli
