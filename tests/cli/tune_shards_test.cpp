// SPDX-License-Identifier: GPL-3.0-or-later
// A grid that shards have scored gives the policy of one process. Scores are predicted from acceptance and
// bytes, so they are the same every time.
#include <draftscope/engine/tuning/policy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Files = std::vector<std::string>;

class TuneShards : public ::testing::Test {
 protected:
  /// Runs tune on a grid. `values` are those of `more` (words_of()).
  [[nodiscard]] CommandResult tune(const std::string& more, const Files& values = {}) const {
    const std::string source = DRAFTSCOPE_SOURCE_DIR;
    std::string line =
        "tune --model {} --prompts {} --search grid --strategy layerskip --exits 3,6,9 --gammas 2,6 "
        "--objective acceptance-model " +
        more;
    std::vector<std::string> all{source + "/models/demo-layerskip", source + "/traces/prompts/demo.jsonl"};
    all.insert(all.end(), values.begin(), values.end());
    if (more.find("--max-tokens") == std::string::npos) line += " --max-tokens 8";
    if (more.find("--limit") == std::string::npos) line += " --limit 3";
    if (more.find("--output") == std::string::npos) {
      line += " --output {}";
      all.push_back(path("policy.json"));
    }
    return run_command(words_of(line, all));
  }

  /// The policy without the date and the command line.
  [[nodiscard]] std::string findings() const {
    auto read = engine::read_policy(path("policy.json"));
    EXPECT_TRUE(read) << read.error().message;
    if (!read) return "";
    EXPECT_TRUE(read->finished);
    read->date.clear();
    read->command_line.clear();
    return engine::policy_json(*read);
  }

  /// Scores every shard's part; returns the shards' files.
  [[nodiscard]] Files score_all(int count, const std::string& more = "") const {
    Files files;
    for (int i = count; i >= 1; --i) {
      expect_success(tune(fmt::format("{} --shard {}/{}", more, i, count)));
      files.push_back(path(fmt::format("policy.{}-of-{}.json", i, count)));
      EXPECT_TRUE(fs::exists(files.back()));
    }
    return files;
  }

  [[nodiscard]] CommandResult close(const Files& files, const std::string& more = "") const {
    std::string line = more + " --from-shards";
    for (std::size_t i = 0; i < files.size(); ++i) line += " {}";
    return tune(line, files);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(TuneShards, GiveThePolicyOfOneProcess) {
  for (const int rungs : {1, 2}) {
    const std::string settings = fmt::format("--rungs {}", rungs);
    expect_success(tune(settings));
    const std::string whole = findings();
    fs::remove(path("policy.json"));
    for (const int count : {1, 2, 5, 6}) {
      const Files files = score_all(count, settings);
      expect_success(close(files, settings));
      EXPECT_EQ(findings(), whole) << count << " shards, " << rungs << " rungs";
      EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / ""), {}), count + 1);
      for (const std::string& file : files) fs::remove(file);
      fs::remove(path("policy.json"));
    }
  }
}

TEST_F(TuneShards, AreTakenInsteadOfScored) {
  // A score that no run would give identifies the shard's trial.
  const Files files = score_all(2, "--rungs 1");
  auto shard = engine::read_policy(files[0]);
  ASSERT_TRUE(shard);
  ASSERT_EQ(shard->trials.size(), 3U);
  shard->trials[1].measured.score = 7.5;
  ASSERT_TRUE(engine::write_policy(files[0], *shard));
  expect_success(close(files, "--rungs 1"));
  const auto policy = engine::read_policy(path("policy.json"));
  ASSERT_TRUE(policy);
  const auto taken =
      std::ranges::find(policy->trials, 7.5, [](const engine::Trial& t) { return t.measured.score; });
  ASSERT_NE(taken, policy->trials.end());
  EXPECT_EQ(taken->setting, shard->trials[1].setting);
}

TEST_F(TuneShards, ThatAreThereAreNotScoredAgain) {
  const Files files = score_all(3);
  const std::string before = bytes_of(files[1]);
  const CommandResult again = tune("--shard 2/3");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
  EXPECT_EQ(bytes_of(files[1]), before);
  // The run continues from the scores of a killed task.
  fs::rename(files[1], files[1] + ".partial");
  expect_success(tune("--shard 2/3 --resume"));
  EXPECT_EQ(bytes_of(files[1]), before);
  fs::rename(files[1], path("policy.1-of-2.json"));
  expect_one_line(tune("--shard 1/2"), "is shard 2/3, expected 1/2 (--overwrite replaces it)");
  // The best of a shard is not the best of the search.
  expect_one_line(run_line("generate --model {} --prompt x --strategy {}",
                           DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip", "tuned:policy=" + files[0]),
                  "is shard 3/3 of a search, expected the policy of all shards (draftscope tune "
                  "--from-shards)");
  EXPECT_THAT(printed_text("report --decisions {}", files[0]), HasSubstr("(a shard of a search)"));
}

TEST_F(TuneShards, OfOtherSearchesAreRefusedInOneLine) {
  const Files files = score_all(3);
  expect_one_line(close({files[0], files[2]}), "found 2 of 3 shards, expected 2/3 too (--partial does");
  expect_one_line(close({files[0], files[1], files[1], files[2]}), "is shard 2/3, expected each shard once");
  expect_one_line(close(files, "--seed 5"), "settings.seed is '1', expected '5'");
  expect_one_line(close(files, "--weights q8_0"), "settings.weights is 'as-stored', expected 'q8_0'");
  expect_one_line(close(files, "--rungs 1"), "settings.rungs is '3', expected '1'");
  expect_one_line(close(files, "--max-tokens 9"), "settings.max_tokens is '8', expected '9'");
  expect_one_line(close(files, "--limit 2"), "prompts.");
  const auto changed = [&](const auto& change) {
    auto shard = engine::read_policy(files[1]);
    EXPECT_TRUE(shard);
    change(*shard);
    EXPECT_TRUE(engine::write_policy(path("changed.json"), *shard));
    return close({files[0], path("changed.json"), files[2]});
  };
  expect_one_line(changed([](engine::Policy& p) { p.tool_version = "0.0.1"; }), "tool_version is '0.0.1'");
  expect_one_line(changed([](engine::Policy& p) { p.model.begin()->second = "another"; }), "model.");
  expect_one_line(changed([](engine::Policy& p) { p.settings.erase("weights"); }),
                  "settings.weights is absent, expected 'as-stored'");
  expect_one_line(changed([](engine::Policy& p) { p.settings.erase("shard"); }), "is no shard's policy");
  expect_one_line(changed([](engine::Policy& p) { p.settings["shard"] = "2/4"; }),
                  "is shard 2/4, expected one of 3");
  expect_one_line(changed([](engine::Policy& p) { p.settings["shard"] = "two"; }),
                  "settings.shard: found 'two'");
  EXPECT_FALSE(fs::exists(path("policy.json")));
  expect_success(close({files[0], files[2]}, "--partial"));
  expect_one_line(tune("--shard 7/7 --output {}", {path("more.json")}),
                  "grid: found 6 settings, expected at least 7 for shard 7/7");
  expect_usage_error(tune("--scratch {}", {path("")}), "found --scratch, expected it only with --shard");
  EXPECT_EQ(tune("--shard 1/2 --from-shards {}", {files[0]}).exit_code, 2);
  expect_usage_error(tune("--partial"), "found --partial, expected it only with --from-shards");
}

}  // namespace
}  // namespace draftscope::cli
