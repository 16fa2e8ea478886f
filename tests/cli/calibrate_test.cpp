// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <draftscope/speculation/published_models.h>
#include "../value_of.h"
#include "printed.h"
#include "report/answers/calibrate_text.h"
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
    result_ = run_line(
        "calibrate --model {} --threads 1 --seconds 0 --rows 1,2,4 --contexts 64,128 --json --quiet -o {}",
        model, path_);
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
  EXPECT_EQ(json::parse(bytes_of(path_)), report["calibration"]);
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

TEST_F(Calibrate, TellsEveryWidthFactorsContext) {
  const json laws = json::parse(result_.out)["calibration"]["shapes"][0]["laws"];
  std::set<std::pair<int, double>> widths;
  for (const json& width : laws["widths"]) widths.emplace(width["rows"], width["context"]);
  EXPECT_EQ(widths.size(), laws["widths"].size());
  for (const double context : {64.0, 128.0}) EXPECT_TRUE(widths.contains({4, context})) << context;
}

TEST(CalibrationText, HasALineForEveryNumberOfRows) {
  simulator::MachineCalibration calibration{.device = "cpu", .processor = "Processor", .shapes = {}};
  simulator::CalibratedShape shape{.shape = value_of(speculation::find_model_shape("Llama-3.2-1B")),
                                   .kernels = {}};
  for (const double context : {1024.0, 64.0})
    for (const int rows : {1, 2, 4}) {
      const double ns = 1e6 * (1.0 + 0.125 * (rows - 1) * (context > 64.0 ? 2.0 : 1.0));
      shape.kernels.push_back({{.kind = speculation::KernelKind::target_pass,
                                .sublayers = {shape.shape.n_layers, shape.shape.n_layers},
                                .rows = rows,
                                .context = context},
                               {ns, ns, ns, 3}});
    }
  calibration.shapes.push_back(std::move(shape));
  EXPECT_THAT(calibration_text({&calibration, "machine.json", {simulator::LeaveOneOut()}}, Glyphs()),
              HasSubstr("\n  rows 2     1.12x at context 64, 1.25x at context 1024"
                        "\n  rows 4     1.38x at context 64, 1.75x at context 1024\n"));
}

TEST_F(Calibrate, EveryKeyOfItsFileAndJsonIsDocumented) {
  const std::set<std::string> keys = keys_of(json::parse(result_.out));
  EXPECT_GT(keys.size(), 50U);
  expect_documented(keys);
}

TEST_F(Calibrate, PricesARecordingMadeElsewhere) {
  const std::string trace = (*folder_ / "run.dstrace").string();
  record_trace(trace, "-s vanilla -s layerskip:exit=4,gamma=3 --max-tokens 24 --repeats 1 --limit 2 --quiet",
               "demo", "demo-plain");
  const json answers =
      printed_json("simulate {} --json --quiet --calibration {} --sweep model=Llama-3.2-1B,Llama-3-8B", trace,
                   path_)["answers"];
  ASSERT_EQ(answers.size(), 2U);
  for (const json& answer : answers) {
    EXPECT_THAT(answer["machine"], HasSubstr("1 thread (calibrated)"));
    EXPECT_GT(answer["decode_tokens_per_second"], 0.0);
    EXPECT_THAT(answer["cost_notes"][0], HasSubstr("kernels of demo-layerskip (bf16) measured there"));
  }
  EXPECT_GT(answers[1]["target_step_ns"], 2.0 * answers[0]["target_step_ns"].get<double>());

  expect_one_line(run_line("simulate {} --quiet --calibration {}", trace, trace), "not valid JSON");
  expect_one_line(run_line("simulate {} --quiet --calibration {} --sweep gpu=H200,L4", trace, path_),
                  "--calibration");
}

TEST_F(Calibrate, RefusesInOneLine) {
  expect_one_line(run_line("calibrate -o {} --quiet", path_), "exists already");
  expect_one_line(run_line("calibrate -o {} --contexts 64,16", (*folder_ / "none.json").string()),
                  "ascending order");
  expect_one_line(run_line("calibrate -o {} -m no-such-model", (*folder_ / "none.json").string()),
                  "no-such-model");
  EXPECT_NE(run_line("calibrate").exit_code, 0);

  const std::string broken = (*folder_ / "broken.json").string();
  std::ofstream(broken) << bytes_of(path_).substr(0, 500);
  const std::string sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";
  expect_one_line(run_line("simulate {} --quiet --calibration {}", sample, broken),
                  "broken.json: not valid JSON");
}

}  // namespace
}  // namespace draftscope::cli
