// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "../simulator/answers/validation/clustered_recording.h"
#include "printed.h"
#include "terminal/messages.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;

class ValidateRecordings : public ::testing::Test {
 protected:
  ValidateRecordings() {
    const simulator::ClusteredOptions options{.requests = 24, .repeats = 2, .second_run = true};
    simulator::write_recording(simulator::clustered_recording(5, options), path_);
    traces::Recording other = simulator::clustered_recording(6, options);
    for (traces::Prompt& prompt : other.prompts) prompt.text = "of another task: " + prompt.text;
    simulator::write_recording(other, other_);
  }
  template <typename... Values>
  [[nodiscard]] static CommandResult validate(const std::string& more, const Values&... values) {
    return run_line("validate --quiet --draws 200 " + more, values...);
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_ / "first.dstrace").string();
  std::string other_ = (folder_ / "other.dstrace").string();
};

TEST_F(ValidateRecordings, ErrorsAreThoseOfThePrintedFigures) {
  const CommandResult result = validate("{} --json", path_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json found = json::parse(result.out);
  std::map<std::string, std::vector<double>> errors;
  for (const json& answer : found["answers"]) {
    const double predicted = answer["predicted"]["speedup"];
    const double measured = answer["measured"]["speedup"];
    EXPECT_DOUBLE_EQ(answer["error"].get<double>(), predicted / measured - 1.0);
    const json& interval = answer["predicted"]["interval_95"];
    EXPECT_EQ(answer["inside_95"].get<bool>(), interval[0] <= measured && measured <= interval[1]);
    errors[answer["kind"]].push_back(std::abs(predicted / measured - 1.0));
  }
  EXPECT_EQ(errors.size(), 3U);  // the kinds again, length and task
  ASSERT_EQ(found["kinds"].size(), errors.size());
  for (const json& kind : found["kinds"]) {
    const std::vector<double>& all = errors[kind["kind"]];
    double sum = 0.0;
    for (const double error : all) sum += error;
    EXPECT_EQ(kind["questions"], all.size());
    EXPECT_NEAR(kind["speedup"]["mean_error"].get<double>(), sum / static_cast<double>(all.size()), 1e-12);
    EXPECT_EQ(kind["speedup"]["max_error"].get<double>(), *std::max_element(all.begin(), all.end()));
  }
}

TEST_F(ValidateRecordings, PredictsOthersFromTheFirstOrFromWhatIsNamed) {
  const json from_first = json::parse(validate("{} {} --json", path_, other_).out);
  EXPECT_EQ(from_first["trained_on"], json::array({"first.dstrace"}));
  EXPECT_EQ(from_first["asked"], json::array({"other.dstrace"}));
  ASSERT_EQ(from_first["answers"].size(), 2U);
  for (const json& answer : from_first["answers"]) {
    EXPECT_EQ(answer["kind"], "task");
    EXPECT_EQ(answer["held_out"], "other.dstrace");
    EXPECT_LT(std::abs(answer["error"].get<double>()), 0.25);
  }
  const json named = json::parse(validate("{} {} --learn-from {} --json", path_, other_, other_).out);
  ASSERT_EQ(named["answers"].size(), 4U);
  std::map<std::string, int> kinds;
  for (const json& answer : named["answers"]) ++kinds[answer["kind"]];
  EXPECT_EQ(kinds["task"], 2);
  EXPECT_EQ(kinds["again"], 2);
}

TEST_F(ValidateRecordings, RefusesInOneLine) {
  const auto expect_refused = [](const CommandResult& result, const std::string& says) {
    EXPECT_EQ(result.out, "");
    expect_one_line(result, says);
  };
  expect_refused(validate("{} --recorded-gpu H-nothing", path_), "H-nothing");
  expect_refused(validate("{}", folder_ / "none.dstrace"), "none.dstrace");
  expect_refused(validate("{} {}", path_, folder_ / "none.dstrace"), "none.dstrace");
  EXPECT_EQ(validate("").exit_code, exit_usage);
}

TEST_F(ValidateRecordings, EveryKeyOfItsJsonIsDocumented) {
  const std::set<std::string> keys = keys_of(json::parse(validate("{} --json", path_).out));
  EXPECT_GT(keys.size(), 40U);
  expect_documented(keys);
}

}  // namespace
}  // namespace draftscope::cli
