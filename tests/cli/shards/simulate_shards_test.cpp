// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep that shards have asked gives the document of one process, to the byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;

class SimulateShards : public ::testing::Test {
 protected:
  /// Two strategies that are answered and one that has no rounds, at several settings, on two machines.
  const Arguments sweep_{"--strategy",    "layerskip:gamma=2", "--strategy",  "fs:gamma=3", "--strategy",
                         "swift:gamma=4", "--sweep",           "gpu=H200,L4", "--draws",    "200"};

  [[nodiscard]] CommandResult simulate(const Arguments& more, const Arguments& sweep) const {
    Arguments arguments{"simulate", recording_, "--quiet", "--output", path("answers.json")};
    arguments.insert(arguments.end(), sweep.begin(), sweep.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }

  [[nodiscard]] Arguments ask_all(int count, const Arguments& sweep) const {
    Arguments files;
    for (int i = count; i >= 1; --i) {
      const CommandResult asked = simulate({"--shard", fmt::format("{}/{}", i, count)}, sweep);
      EXPECT_EQ(asked.exit_code, 0) << asked.err;
      EXPECT_EQ(asked.out, "");
      files.push_back(path(fmt::format("answers.{}-of-{}.json", i, count)));
      EXPECT_TRUE(fs::exists(files.back()));
    }
    return files;
  }

  [[nodiscard]] CommandResult merge(const Arguments& files, const Arguments& more = {}) const {
    Arguments arguments{"merge", "--output", path("answers.json")};
    arguments.insert(arguments.end(), files.begin(), files.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  const std::string recording_ = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";
  TemporaryFolder folder_;
};

TEST_F(SimulateShards, GiveTheDocumentOfOneProcess) {
  // swift has no rounds here: one refusal for both machines, which several shards may say.
  const CommandResult whole = simulate({"--json"}, sweep_);
  const std::string expected = read_file(path("answers.json"));
  EXPECT_EQ(whole.out, expected);
  const Json document = Json::parse(expected);
  EXPECT_EQ(whole.exit_code, document["refusals"].empty() ? 0 : 1);
  EXPECT_GE(document["answers"].size(), 4U);
  for (const int count : {1, 2, 4, 6}) {
    fs::remove(path("answers.json"));
    const Arguments files = ask_all(count, sweep_);
    const CommandResult merged = merge(files);
    ASSERT_EQ(merged.exit_code, 0) << merged.err;
    EXPECT_THAT(merged.out, HasSubstr(fmt::format("{} shards: {} answers, {} questions without", count,
                                                  document["answers"].size(), document["refusals"].size())));
    EXPECT_EQ(read_file(path("answers.json")), expected) << count << " shards";
    for (const std::string& file : files) fs::remove(file);
  }
}

TEST_F(SimulateShards, SayARefusalOfAllMachinesOnce) {
  const Arguments sweep{"--strategy", "layerskip:exit=9999", "--strategy", "layerskip:exit=5,gamma=2",
                        "--sweep",    "gpu=H200,L4,A10",     "--draws",    "200"};
  EXPECT_EQ(simulate({}, sweep).exit_code, 1);
  const std::string expected = read_file(path("answers.json"));
  EXPECT_EQ(Json::parse(expected)["refusals"].size(), 1U) << expected;
  fs::remove(path("answers.json"));
  const Arguments files = ask_all(3, sweep);
  for (const std::string& file : files) EXPECT_EQ(Json::parse(read_file(file))["refusals"].size(), 1U);
  ASSERT_EQ(merge(files).exit_code, 0);
  EXPECT_EQ(read_file(path("answers.json")), expected);
}

TEST_F(SimulateShards, ThatAreThereAreNotAskedAgain) {
  const Arguments files = ask_all(2, sweep_);
  const std::string before = read_file(files[0]);
  const CommandResult again = simulate({"--shard", "2/2"}, {"--strategy", "fs"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(files[0]), before);
  fs::rename(files[0], path("answers.1-of-3.json"));
  expect_one_line(simulate({"--shard", "1/3"}, sweep_),
                  "is shard 2/2, expected 1/3 (--overwrite replaces it)");
}

TEST_F(SimulateShards, OfOtherSweepsAreRefusedInOneLine) {
  const Arguments files = ask_all(3, sweep_);
  expect_one_line(merge({files[0], files[2]}),
                  "found 2 of 3 shards, expected 2/3 too (--partial does without)");
  expect_one_line(merge({files[0], files[1], files[2], files[0]}), "is shard 3/3, expected each shard once");
  const auto changed = [&](const auto& change) {
    Json document = Json::parse(read_file(files[1]));
    change(document);
    std::ofstream(path("changed.json")) << document.dump();
    return merge({files[0], path("changed.json"), files[2]});
  };
  expect_one_line(changed([](Json& d) { d.erase("shard"); }), "is no shard's answers");
  expect_one_line(changed([](Json& d) { d["shard"]["shard"] = "2/5"; }),
                  "is shard 2/5, expected one of 3 as");
  expect_one_line(changed([](Json& d) { d["shard"]["shard"] = 2; }), "shard.shard is 2");
  expect_one_line(changed([](Json& d) { d["shard"]["tool_version"] = "0.1"; }),
                  "tool_version is '0.1', expected");
  expect_one_line(changed([](Json& d) { d["shard"]["asked"]["--draws"][0] = "300"; }),
                  "--draws is not as in");
  expect_one_line(changed([](Json& d) { d["shard"]["asked"]["files"][0] = "other"; }), "files is not as in");
  expect_one_line(changed([](Json& d) { d["costs"]["groups"] = -1; }),
                  "is of another sweep, recording or build");
  expect_one_line(changed([](Json& d) { d["shard"]["questions"] = 7; }), "is of another sweep");
  expect_one_line(changed([](Json& d) { d["shard"]["answered"].push_back(5); }), "shard.answered has");
  expect_one_line(changed([](Json& d) { d["shard"]["answered"][0] = 6; }), "shard.answered");
  expect_one_line(changed([](Json& d) { d["answers"] = 5; }), "answers");
  std::ofstream(path("cut.json")) << read_file(files[1]).substr(0, 500);
  expect_one_line(merge({path("cut.json"), files[0]}), "cut.json");
  expect_one_line(merge({files[0], recording_}), "early-exit.dstrace");
  EXPECT_FALSE(fs::exists(path("answers.json")));
  EXPECT_EQ(merge({files[0], files[2]}, {"--partial"}).exit_code, 0);
  expect_one_line(simulate({"--shard", "9/9"}, sweep_),
                  "found 6 questions, expected at least 9 for shard 9/9");
  expect_one_line(run_command({"simulate", recording_, "--strategy", "fs", "--shard", "1/2"}),
                  "--shard: found no --output");
  for (const char* other : {"--ladder", "--waterfall"})
    EXPECT_EQ(simulate({other}, sweep_).exit_code, 2) << other;
}

}  // namespace
}  // namespace draftscope::cli
