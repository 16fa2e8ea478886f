// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/validation/validate_published.h"
#include "terminal/outcome.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Validate, KeepsEveryBoundOnPublishedResults) {
  const CommandResult result = run_command({"validate", "--published"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, Not(HasSubstr("MISSED")));
  // SWIFT, Table 4, first cell: M 4.34, acceptance 0.99, skip ratio 0.45 give 1.52 there.
  EXPECT_THAT(result.out, HasSubstr("1.5198"));
}

TEST(Validate, PrintsAsJsonWhatItsTableShows) {
  const json found = json::parse(run_command({"validate", "--published", "--json"}).out);
  EXPECT_EQ(found["held"], true);
  EXPECT_EQ(found["orderings"]["cells"].size(), 29U);
  const std::map<std::string, std::size_t> cells{
      {"swift_expected", 9}, {"swift_measured", 21},       {"layer_count", 24},
      {"across_tasks", 24},  {"constant_ratio", 24},       {"across_models", 24},
      {"other_lengths", 16}, {"finite_state_lengths", 24}, {"blog_ratios", 18}};
  ASSERT_EQ(found["tests"].size(), cells.size());
  for (const json& test : found["tests"]) {
    EXPECT_EQ(test["cells"].size(), cells.at(test["name"])) << test["name"];
    double sum = 0.0;
    for (const json& cell : test["cells"]) {
      const double predicted = cell["predicted"];
      const double published = cell["published"];
      EXPECT_DOUBLE_EQ(cell["difference"].get<double>(), predicted - published);
      sum += std::abs(predicted - published) / published;
    }
    EXPECT_NEAR(test["mean_error"].get<double>(), sum / static_cast<double>(cells.at(test["name"])), 1e-12);
    for (const json& bound : test["bounds"]) EXPECT_EQ(bound["held"], true) << test["name"] << bound;
  }
}

TEST(Validate, FailsAfterPrintingWhereABoundIsMissed) {
  std::vector<simulator::PublishedRow> rows = *simulator::published_rows();
  for (simulator::PublishedRow& row : rows)
    if (row.expected_speedup) *row.expected_speedup += 0.01;
  const simulator::PublishedBacktests found = *simulator::backtest_published(rows);
  testing::internal::CaptureStdout();
  const Result<int> result = print_published(found, false);
  const std::string out = testing::internal::GetCapturedStdout();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "published results: found 1 of 14 bounds missed, expected all to hold");
  EXPECT_THAT(out, HasSubstr("MISSED"));
  EXPECT_THAT(out, HasSubstr("13 of 14 bounds held"));
  EXPECT_EQ(json::parse(published_json(found))["held"], false);
}

TEST(Validate, NeedsToBeToldWhatToCompareWith) {
  const CommandResult result = run_command({"validate"});
  EXPECT_EQ(result.exit_code, exit_usage);
  EXPECT_THAT(result.err, HasSubstr("--published"));
}

}  // namespace
}  // namespace draftscope::cli
