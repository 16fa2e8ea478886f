// SPDX-License-Identifier: GPL-3.0-or-later
// Predictions of jacobi and lookahead from recordings of other settings, beside recordings of these settings.
// Limits were set before any was compared.

#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rounds/round_sources.h"
#include "tests/cli/trace_files.h"

namespace draftscope::simulator {
namespace {

class FromEarlierGuesses : public testing::Test {
 protected:
  struct Learnt {
    std::unique_ptr<traces::Reader> reader;
    std::unique_ptr<traces::Recording> recording;
    std::unique_ptr<WhatIf> what_if;
  };
  Learnt record(const std::string& name, const std::vector<std::string>& strategies) {
    const std::filesystem::path file = folder_ / name;
    std::vector<std::string> arguments = cli::record_arguments(
        file, "--limit 6 --max-tokens 60 --repeats 1 --quiet --strategy vanilla", "sample");
    for (const std::string& strategy : strategies)
      arguments.insert(arguments.end(), {"--strategy", strategy});
    const cli::CommandResult result = cli::run_command(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return learn(name);
  }
  Learnt learn(const std::string& name) {
    Learnt learnt;
    learnt.reader = std::make_unique<traces::Reader>(*traces::Reader::open(folder_ / name));
    learnt.recording = std::make_unique<traces::Recording>(*learnt.reader->recording());
    auto what_if = WhatIf::train(*learnt.reader, *learnt.recording);
    EXPECT_TRUE(what_if) << what_if.error().message;
    learnt.what_if = std::make_unique<WhatIf>(*std::move(what_if));
    return learnt;
  }
  /// Makes every token that lookahead noted this one.
  void damage(const std::string& name, const std::string& token) {
    std::string tokens = token;
    for (int i = 1; i < 35; ++i) tokens += "," + token;
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / name).c_str(), &database), SQLITE_OK);
    const std::string sql =
        "UPDATE decisions SET detail = '{\"tokens\":[" + tokens + "]}' WHERE detail LIKE '{\"tokens\":%'";
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    EXPECT_GT(sqlite3_changes(database), 0);
    sqlite3_close(database);
  }

  cli::TemporaryFolder folder_;
};

TEST_F(FromEarlierGuesses, ARecordedSettingHasItsOwnRounds) {
  const std::vector<std::string> strategies{"jacobi:block=5", "jacobi:block=4,rule=published", "lookahead",
                                            "lookahead:window=4,ngram=3,guesses=9,pool-from-prompt=yes"};
  const Learnt learnt = record("run.dstrace", strategies);
  for (const std::string& strategy : strategies) {
    const auto found = lookup_rounds(learnt.what_if->trained(), strategy);
    const auto expected = learnt.what_if->rounds(strategy);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(expected) << expected.error().message;
    EXPECT_EQ(found->setting.status, AnswerStatus::exact) << strategy;
    EXPECT_TRUE(found->setting.max_drafted.empty()) << strategy;
    ASSERT_EQ(found->setting.min_drafted.size(), expected->setting.min_drafted.size());
    for (std::size_t i = 0; i < found->setting.min_drafted.size(); ++i) {
      const RoundStatistics& replayed = found->setting.min_drafted[i];
      const RoundStatistics& recorded = expected->setting.min_drafted[i];
      EXPECT_EQ(replayed.rounds, recorded.rounds) << strategy;
      EXPECT_EQ(replayed.tokens, recorded.tokens) << strategy;
      EXPECT_EQ(replayed.drafted, recorded.drafted) << strategy;
      EXPECT_EQ(replayed.accepted, recorded.accepted) << strategy;
      ASSERT_EQ(replayed.drafts.size(), recorded.drafts.size()) << strategy;
      for (std::size_t k = 0; k < recorded.drafts.size(); ++k) {
        ASSERT_EQ(replayed.drafts[k].verify.size(), recorded.drafts[k].verify.size()) << strategy;
        for (std::size_t rows = 0; rows < recorded.drafts[k].verify.size(); ++rows)
          EXPECT_EQ(replayed.drafts[k].verify[rows].passes, recorded.drafts[k].verify[rows].passes)
              << strategy << ", " << rows << " rows";
      }
    }
  }
}

TEST_F(FromEarlierGuesses, NotedTokensBeyondTheVocabularyAreNoGuesses) {
  const std::string name = "run.dstrace";
  const std::int64_t tokens =
      sum_of(record(name, {"lookahead"}).what_if->rounds("lookahead")->setting.min_drafted).tokens;
  for (const char* const token : {"2000000000", "-7"}) {
    damage(name, token);
    const Learnt learnt = learn(name);
    const auto found = lookup_rounds(learnt.what_if->trained(), "lookahead");
    ASSERT_TRUE(found) << found.error().message;
    const RoundStatistics all = sum_of(found->setting.min_drafted);
    EXPECT_EQ(all.tokens, tokens);
    EXPECT_EQ(all.drafted, 0);
  }
}

TEST_F(FromEarlierGuesses, OtherSettingsAreNearTheirRecordings) {
  const std::vector<std::string> asked{
      "jacobi:block=2",      "jacobi:block=4",
      "jacobi:block=8",      "jacobi:block=4,rule=published",
      "lookahead:window=4",  "lookahead:ngram=3",
      "lookahead:guesses=2", "lookahead:window=5,ngram=4,guesses=12,pool-from-prompt=yes"};
  const Learnt known = record("known.dstrace", {"jacobi:block=6", "lookahead"});
  const Learnt truth = record("truth.dstrace", asked);
  for (const std::string& strategy : asked) {
    const auto found = known.what_if->rounds(strategy);
    const auto expected = truth.what_if->rounds(strategy);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(expected) << expected.error().message;
    const RoundStatistics predicted = sum_of(found->setting.min_drafted);
    const RoundStatistics recorded = sum_of(expected->setting.min_drafted);
    EXPECT_EQ(predicted.tokens, recorded.tokens) << strategy;
    const auto rounds = static_cast<double>(recorded.rounds);
    EXPECT_NEAR(static_cast<double>(predicted.rounds), rounds, 0.1 * rounds) << strategy;
    if (found->setting.status == AnswerStatus::exact) {
      EXPECT_EQ(predicted.rounds, recorded.rounds) << strategy;
      EXPECT_EQ(predicted.accepted, recorded.accepted) << strategy;
      continue;
    }
    ASSERT_FALSE(found->setting.max_drafted.empty()) << strategy;
    const RoundStatistics fewest = sum_of(found->setting.max_drafted);
    EXPECT_GE(fewest.rounds, predicted.rounds) << strategy;
    EXPECT_LE(rounds, 1.05 * static_cast<double>(fewest.rounds)) << strategy;
  }
}

}  // namespace
}  // namespace draftscope::simulator
