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
using Arguments = std::vector<std::string>;

class TuneShards : public ::testing::Test {
 protected:
  [[nodiscard]] CommandResult tune(const Arguments& more, const std::string& model = "demo-layerskip") const {
    const std::string source = DRAFTSCOPE_SOURCE_DIR;
    Arguments arguments{"tune",
                        "--model",
                        source + "/models/" + model,
                        "--prompts",
                        source + "/traces/prompts/demo.jsonl",
                        "--search",
                        "grid",
                        "--strategy",
                        "layerskip",
                        "--exits",
                        "3,6,9",
                        "--gammas",
                        "2,6"};
    for (const auto& [option, value] :
         std::vector<std::pair<std::string, std::string>>{{"--objective", "acceptance-model"},
                                                          {"--max-tokens", "8"},
                                                          {"--limit", "3"},
                                                          {"--output", path("policy.json")}})
      if (std::find(more.begin(), more.end(), option) == more.end())
        arguments.insert(arguments.end(), {option, value});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
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
  [[nodiscard]] Arguments score_all(int count, const Arguments& more) const {
    Arguments files;
    for (int i = count; i >= 1; --i) {
      Arguments arguments = more;
      arguments.insert(arguments.end(), {"--shard", fmt::format("{}/{}", i, count)});
      const CommandResult scored = tune(arguments);
      EXPECT_EQ(scored.exit_code, 0) << scored.err;
      files.push_back(path(fmt::format("policy.{}-of-{}.json", i, count)));
      EXPECT_TRUE(fs::exists(files.back()));
    }
    return files;
  }

  [[nodiscard]] CommandResult close(const Arguments& files, const Arguments& more) const {
    Arguments arguments = more;
    arguments.emplace_back("--from-shards");
    arguments.insert(arguments.end(), files.begin(), files.end());
    return tune(arguments);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(TuneShards, GiveThePolicyOfOneProcess) {
  for (const char* rungs : {"1", "2"}) {
    const Arguments settings{"--rungs", rungs};
    ASSERT_EQ(tune(settings).exit_code, 0);
    const std::string whole = findings();
    fs::remove(path("policy.json"));
    for (const int count : {1, 2, 5, 6}) {
      const Arguments files = score_all(count, settings);
      const CommandResult closed = close(files, settings);
      ASSERT_EQ(closed.exit_code, 0) << closed.err;
      EXPECT_EQ(findings(), whole) << count << " shards, " << rungs << " rungs";
      EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / ""), {}), count + 1);
      for (const std::string& file : files) fs::remove(file);
      fs::remove(path("policy.json"));
    }
  }
}

TEST_F(TuneShards, AreTakenInsteadOfScored) {
  // A score that no run would give identifies the shard's trial.
  const Arguments files = score_all(2, {"--rungs", "1"});
  auto shard = engine::read_policy(files[0]);
  ASSERT_TRUE(shard);
  ASSERT_EQ(shard->trials.size(), 3U);
  shard->trials[1].measured.score = 7.5;
  ASSERT_TRUE(engine::write_policy(files[0], *shard));
  ASSERT_EQ(close(files, {"--rungs", "1"}).exit_code, 0);
  const auto policy = engine::read_policy(path("policy.json"));
  ASSERT_TRUE(policy);
  const auto taken =
      std::ranges::find(policy->trials, 7.5, [](const engine::Trial& t) { return t.measured.score; });
  ASSERT_NE(taken, policy->trials.end());
  EXPECT_EQ(taken->setting, shard->trials[1].setting);
}

TEST_F(TuneShards, ThatAreThereAreNotScoredAgain) {
  const Arguments files = score_all(3, {});
  const std::string before = read_file(files[1]);
  const CommandResult again = tune({"--shard", "2/3"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("is there already"));
  EXPECT_EQ(read_file(files[1]), before);
  // The run continues from the scores of a killed task.
  fs::rename(files[1], files[1] + ".partial");
  EXPECT_EQ(tune({"--shard", "2/3", "--resume"}).exit_code, 0);
  EXPECT_EQ(read_file(files[1]), before);
  fs::rename(files[1], path("policy.1-of-2.json"));
  expect_one_line(tune({"--shard", "1/2"}), "is shard 2/3, expected 1/2 (--overwrite replaces it)");
  // The best of a shard is not the best of the search.
  expect_one_line(run_command({"generate", "--model", DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip",
                               "--prompt", "x", "--strategy", "tuned:policy=" + files[0]}),
                  "the search is not finished");
}

TEST_F(TuneShards, OfOtherSearchesAreRefusedInOneLine) {
  const Arguments files = score_all(3, {});
  expect_one_line(close({files[0], files[2]}, {}), "found 2 of 3 shards, expected 2/3 too (--partial does");
  expect_one_line(close({files[0], files[1], files[1], files[2]}, {}),
                  "is shard 2/3, expected each shard once");
  expect_one_line(close(files, {"--seed", "5"}), "settings.seed is '1', expected '5'");
  expect_one_line(close(files, {"--rungs", "1"}), "settings.rungs is '3', expected '1'");
  expect_one_line(close(files, {"--max-tokens", "9"}), "settings.max_tokens is '8', expected '9'");
  expect_one_line(close(files, {"--limit", "2"}), "prompts.");
  const auto changed = [&](const auto& change) {
    auto shard = engine::read_policy(files[1]);
    EXPECT_TRUE(shard);
    change(*shard);
    EXPECT_TRUE(engine::write_policy(path("changed.json"), *shard));
    return close({files[0], path("changed.json"), files[2]}, {});
  };
  expect_one_line(changed([](engine::Policy& p) { p.tool_version = "0.0.1"; }), "tool_version is '0.0.1'");
  expect_one_line(changed([](engine::Policy& p) { p.model.begin()->second = "another"; }), "model.");
  expect_one_line(changed([](engine::Policy& p) { p.settings.erase("shard"); }), "is no shard's policy");
  expect_one_line(changed([](engine::Policy& p) { p.settings["shard"] = "2/4"; }),
                  "is shard 2/4, expected one of 3");
  expect_one_line(changed([](engine::Policy& p) { p.settings["shard"] = "two"; }),
                  "settings.shard: found 'two'");
  EXPECT_FALSE(fs::exists(path("policy.json")));
  EXPECT_EQ(close({files[0], files[2]}, {"--partial"}).exit_code, 0);
  expect_one_line(tune({"--shard", "7/7", "--output", path("more.json")}),
                  "grid: found 6 settings, expected at least 7 for shard 7/7");
  expect_one_line(tune({"--scratch", path("")}), "--scratch: found no --shard");
  EXPECT_EQ(tune({"--shard", "1/2", "--from-shards", files[0]}).exit_code, 2);
  expect_one_line(tune({"--partial"}), "--partial: found no --from-shards");
}

TEST_F(TuneShards, OfASkipSetSearchAreRefused) {
  expect_one_line(run_command({"tune", "--model", DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip", "--prompts",
                               DRAFTSCOPE_SOURCE_DIR "/traces/prompts/demo.jsonl", "--search", "skip-set",
                               "--output", path("policy.json"), "--shard", "1/2"}),
                  "shard: given for --search skip-set");
  EXPECT_TRUE(fs::is_empty(folder_ / ""));
}

}  // namespace
}  // namespace draftscope::cli
