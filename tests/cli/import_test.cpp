// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope import`, and the other commands on its traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string fixture(const std::string& name) {
  return std::string(DRAFTSCOPE_SOURCE_DIR) + "/tests/fuzz/corpus/import/" + name;
}

TEST(ImportCommand, GivesTheFiguresThatTheSourceHoldsAndNoOthers) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  const CommandResult imported =
      run_command({"import", fixture("spec_bench/layerskip_exit=2,gamma=4.jsonl"), "--baseline",
                   fixture("spec_bench/vanilla.jsonl"), "-o", trace});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("2 runs, 6 requests"));
  EXPECT_EQ(run_command({"inspect", trace, "--validate"}).exit_code, 0);
  EXPECT_EQ(run_command({"compare", trace, trace}).exit_code, 0);
  const CommandResult reported = run_command({"report", trace, "--json"});
  ASSERT_EQ(reported.exit_code, 0) << reported.err;
  const json run = json::parse(reported.out)["runs"][1];
  EXPECT_DOUBLE_EQ(run["mean_accepted_length"], 15.0 / 6.0) << "4 + 2 + 1 + 3 + 2 + 3 tokens in six rounds";
  EXPECT_DOUBLE_EQ(run["tokens_per_second"], 16.0 / 0.875);
  EXPECT_DOUBLE_EQ(run["speedup"]["value"], 1.75 / 0.875);
  for (const char* const absent : {"acceptance_rate", "draft_cost", "time_to_first_token", "identity"})
    EXPECT_TRUE(run[absent].is_null()) << absent << " rests on what the source lacks";
}

TEST(ImportCommand, WithoutRoundsReportSaysWhatTheSourceLacks) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  ASSERT_EQ(run_command({"import", fixture("layerskip/sweep.csv"), "-q", "-o", trace}).exit_code, 0);
  const CommandResult reported = run_command({"report", trace});
  EXPECT_EQ(reported.exit_code, 1);
  EXPECT_THAT(reported.err, HasSubstr("imported from sweep.csv, which lacks rounds"));
}

/// The sums of a log of llama-speculative, `times` as many with the same rate.
std::string log_of_sums(int times) {
  std::string text = read_file(fixture("llama_cpp/speculative.log"));
  for (const auto& [sum, count] : {std::pair("n_drafted = ", 51), std::pair("n_accept  = ", 31)}) {
    const std::size_t place = text.find(sum) + std::string(sum).size();
    text.replace(place, 2, std::to_string(times * count));
  }
  return text;
}

TEST(ImportCommand, AStatedRateHasAnIntervalThatIsNarrowerWithMoreDraftTokens) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  const std::string log = (folder / "sums.log").string();
  double narrower = 10.0;
  for (const int times : {1, 10, 100}) {
    std::ofstream(log) << log_of_sums(times);
    ASSERT_EQ(run_command({"import", log, "--strategy", "layerskip:exit=4,gamma=3", "--layers", "32", "-q",
                           "--overwrite", "-o", trace})
                  .exit_code,
              0);
    const CommandResult asked = run_command({"simulate", trace, "--gpu", "H100-SXM5-80GB", "--model",
                                             "Llama-2-7B", "-s", "layerskip:exit=4,gamma=3", "--json"});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    const json answer = json::parse(asked.out)["answers"][0];
    const double speedup = answer["speedup"];
    ASSERT_TRUE(answer["interval_95"].is_array()) << answer;
    const double low = answer["interval_95"][0];
    const double high = answer["interval_95"][1];
    EXPECT_LT(low, speedup);
    EXPECT_LT(speedup, high);
    EXPECT_LT(high / low, narrower);
    narrower = high / low;
    EXPECT_THAT(answer["notes"].dump(), HasSubstr("its interval is of one stated rate"));
  }
  EXPECT_GT(narrower, 1.2) << "tasks differ, however many tokens were drafted";
}

TEST(ImportCommand, RefusesToReplaceUnlessToldTo) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  const std::vector<std::string> arguments{"import", fixture("chrome/rounds.json"), "-o", trace};
  EXPECT_EQ(run_command(arguments).exit_code, 0);
  EXPECT_THAT(run_command(arguments).err, HasSubstr("exists already"));
  EXPECT_EQ(run_command({"import", fixture("chrome/rounds.json"), "-o", trace, "--overwrite"}).exit_code, 0);
}

}  // namespace
}  // namespace draftscope::cli
