// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope report --by operation`, on a recording of an H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* timed_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-llama-1b-operations.dstrace";
constexpr const char* processor_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";

TEST(ReportByOperation, GivesEachPhaseItsTimeWithoutRest) {
  const json document = json::parse(run_command({"report", timed_sample, "--by", "operation", "--json"}).out);
  EXPECT_TRUE(document["timed_by_device"]);
  std::map<std::pair<std::string, std::string>, std::int64_t> sums;
  for (const json& row : document["operations"]) {
    sums[{row["specification"], row["phase"]}] += row["ns"].get<std::int64_t>();
    EXPECT_LE(row["before_ns"].get<std::int64_t>() + row["wait_ns"].get<std::int64_t>(),
              row["ns"].get<std::int64_t>());
    if (!row["read_share"].is_null()) {
      EXPECT_LE(row["read_share"].get<double>(), 1.0) << row["operation"];
    }
  }
  ASSERT_FALSE(sums.empty());
  EXPECT_EQ(document["phases"].size(), sums.size());
  for (const json& phase : document["phases"])
    EXPECT_EQ((sums[{phase["specification"], phase["phase"]}]), phase["ns"].get<std::int64_t>());
}

/// All weights are read once per vanilla step, only by products.
TEST(ReportByOperation, CountsTheBytesOfAStep) {
  const json document = json::parse(run_command({"report", timed_sample, "--by", "operation", "--json"}).out);
  std::int64_t bytes = 0, steps = 0;
  for (const json& row : document["operations"]) {
    if (row["specification"] != "vanilla" || row["operation"] == "attention") continue;
    bytes += row["bytes"].get<std::int64_t>();
    if (row["operation"] == "embedding") steps += row["executions"].get<std::int64_t>();
  }
  ASSERT_GT(steps, 0);
  constexpr std::int64_t layers = 16, d_model = 2048, d_ff = 8192, kv_width = 512, vocab = 128256;
  constexpr std::int64_t layer_numbers = d_model * (2 * d_model + 2 * kv_width + 3 * d_ff);
  EXPECT_EQ(bytes, steps * 2 * (layers * layer_numbers + vocab * d_model));
}

TEST(ReportByOperation, HasALineAnOperationOfARunAndPhase) {
  const json document = json::parse(run_command({"report", timed_sample, "--by", "operation", "--json"}).out);
  const std::string csv = run_command({"report", timed_sample, "--by", "operation", "--csv"}).out;
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')),
            1 + document["operations"].size());
  const std::string text = run_command({"report", timed_sample, "--by", "operation"}).out;
  EXPECT_THAT(text, HasSubstr("vanilla, verify"));
  EXPECT_THAT(text, HasSubstr("of reading"));
}

TEST(ReportByOperation, IsRefusedWhereNoDeviceWasRecorded) {
  const auto printed = run_command({"report", processor_sample, "--by", "operation"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("no device was recorded, expected one for --by operation"));
}

}  // namespace
}  // namespace draftscope::cli
