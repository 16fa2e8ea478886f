// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// One short calibration for all tests: three repeats of the demo model.
class Calibrate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    path_ = (*folder_ / "machine.json").string();
    const std::string model = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
    result_ = run_command({"calibrate", "--model", model, "--threads", "1", "--seconds", "0", "--rows",
                           "1,2,4", "--contexts", "64,128", "--json", "--quiet", "-o", path_});
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  void SetUp() override { ASSERT_EQ(result_.exit_code, 0) << result_.err; }

  static TemporaryFolder* folder_;
  static std::string path_;
  static CommandResult result_;
};

TemporaryFolder* Calibrate::folder_ = nullptr;
std::string Calibrate::path_;
CommandResult Calibrate::result_;

TEST_F(Calibrate, TimesPassesOperationsAndRounds) {
  const json report = json::parse(result_.out);
  EXPECT_EQ(json::parse(read_file(path_)), report["calibration"]);
  const json& calibration = report["calibration"];
  EXPECT_EQ(calibration["machine"]["device"], "cpu");
  EXPECT_EQ(calibration["machine"]["threads"], 1);
  EXPECT_GT(calibration["probes"]["memory_gb_s"]["median"], 0.0);
  std::set<std::string> names;
  for (const json& kernel : calibration["shapes"][0]["kernels"]) {
    names.insert(kernel["name"]);
    EXPECT_GE(kernel["ns"]["samples"], 3) << kernel["name"];
    EXPECT_GT(kernel["ns"]["median"], 0.0) << kernel["name"];
  }
  for (const char* expected : {"qkv, 1 row", "down, 4 rows", "head, 2 rows", "attention, 1 row, context 128",
                               "small operations, 4 rows", "target step, context 64",
                               "verification of 4 rows, context 64", "verification of 4 rows, context 128",
                               "rest of a round with a draft", "rest of a round without a draft"})
    EXPECT_TRUE(names.contains(expected)) << expected;
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("draft step of 3 layers");
  }));
  ASSERT_EQ(report["leave_one_out"].size(), 1U);
}

TEST_F(Calibrate, EveryKeyOfItsFileAndJsonIsDocumented) {
  const std::set<std::string> keys = keys_of(json::parse(result_.out));
  EXPECT_GT(keys.size(), 50U);
  expect_documented(keys);
}

TEST_F(Calibrate, PricesARecordingMadeElsewhere) {
  const std::string trace = (*folder_ / "run.dstrace").string();
  const CommandResult recorded =
      run_command(record_arguments(trace,
                                   "--strategy vanilla --strategy layerskip:exit=4,gamma=3 --max-tokens 24 "
                                   "--repeats 1 --limit 2 --quiet",
                                   "demo", "demo-plain"));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const CommandResult asked = run_command({"simulate", trace, "--json", "--quiet", "--calibration", path_,
                                           "--sweep", "model=Llama-3.2-1B,Llama-3-8B"});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const json answers = json::parse(asked.out)["answers"];
  ASSERT_EQ(answers.size(), 2U);
  for (const json& answer : answers) {
    EXPECT_THAT(answer["machine"], HasSubstr("1 thread (calibrated)"));
    EXPECT_GT(answer["decode_tokens_per_second"], 0.0);
    EXPECT_THAT(answer["cost_notes"][0], HasSubstr("kernels of demo-layerskip (bf16) measured there"));
  }
  EXPECT_GT(answers[1]["target_step_ns"], 2.0 * answers[0]["target_step_ns"].get<double>());

  expect_one_line(run_command({"simulate", trace, "--quiet", "--calibration", trace}), "not valid JSON");
  expect_one_line(
      run_command({"simulate", trace, "--quiet", "--calibration", path_, "--sweep", "gpu=H200,L4"}),
      "--calibration");
}

TEST_F(Calibrate, RefusesInOneLine) {
  expect_one_line(run_command({"calibrate", "-o", path_, "--quiet"}), "exists already");
  expect_one_line(run_command({"calibrate", "-o", (*folder_ / "none.json").string(), "--contexts", "64,16"}),
                  "ascending order");
  expect_one_line(run_command({"calibrate", "-o", (*folder_ / "none.json").string(), "-m", "no-such-model"}),
                  "no-such-model");
  EXPECT_NE(run_command({"calibrate"}).exit_code, 0);

  const std::string broken = (*folder_ / "broken.json").string();
  std::ofstream(broken) << read_file(path_).substr(0, 500);
  const std::string sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";
  expect_one_line(run_command({"simulate", sample, "--quiet", "--calibration", broken}),
                  "broken.json: not valid JSON");
}

}  // namespace
}  // namespace draftscope::cli
