// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope report --device`, on recordings of an H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "terminal/table.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* device_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-node.dstrace";
constexpr const char* processor_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";

void expect_sums(const json& document) {
  const auto wall_ns = document["wall_ns"].get<std::int64_t>();
  for (const char* table : {"operations", "kernels"}) {
    std::int64_t own_ns = 0;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (const json& row : document[table]) {
      own_ns += row["own_ns"].get<std::int64_t>();
      EXPECT_LE(row["own_ns"].get<std::int64_t>(), before) << row["name"];
      before = row["own_ns"].get<std::int64_t>();
    }
    EXPECT_EQ(own_ns, document["busy_ns"].get<std::int64_t>()) << table;
  }
  std::int64_t gaps_ns = 0, gaps = 0, counted = 0;
  for (const json& kind : document["gaps"]["kinds"]) {
    gaps_ns += kind["ns"].get<std::int64_t>();
    gaps += kind["count"].get<std::int64_t>();
  }
  for (const json& count : document["gaps"]["histogram"]["counts"]) counted += count.get<std::int64_t>();
  EXPECT_EQ(document["busy_ns"].get<std::int64_t>() + gaps_ns, wall_ns);
  EXPECT_EQ(gaps, counted);
}

TEST(ReportDevice, AddsUpToTheWallTimeOfARunAndOfItsPhases) {
  expect_sums(json::parse(run_command({"report", device_sample, "--device", "--json"}).out));
  const json run =
      json::parse(run_command({"report", device_sample, "--device", "--run", "vanilla", "--json"}).out);
  expect_sums(run);
  EXPECT_EQ(run["run"], "vanilla");
  std::int64_t wall_ns = 0;
  for (const char* phase : {"prefill", "draft", "verify", "accept", "optimise", "control", "sync", "idle"}) {
    const json of_phase = json::parse(
        run_command({"report", device_sample, "--device", "--run", "vanilla", "--phase", phase, "--json"})
            .out);
    expect_sums(of_phase);
    wall_ns += of_phase["wall_ns"].get<std::int64_t>();
  }
  EXPECT_EQ(wall_ns, run["wall_ns"].get<std::int64_t>());
}

TEST(ReportDevice, FitsAHundredColumns) {
  std::istringstream text(run_command({"report", device_sample, "--device", "-q"}).out);
  for (std::string line; std::getline(text, line);) EXPECT_LE(display_width(line), 100U) << line;
}

TEST(ReportDevice, SaysWhatABoundIsOf) {
  const std::string text = run_command({"report", device_sample, "--device"}).out;
  EXPECT_THAT(text, HasSubstr("A vanilla step reads"));
  EXPECT_THAT(text, HasSubstr("bytes that follow from the model's sizes"));
  EXPECT_THAT(text, HasSubstr("launch"));
}

TEST(ReportDevice, RefusesWhatItCannotTell) {
  EXPECT_THAT(run_command({"report", processor_sample, "--device"}).err,
              HasSubstr("no device was recorded, expected one for --device"));
  EXPECT_THAT(run_command({"report", device_sample, "--device", "--run", "swift"}).err,
              HasSubstr("--run: found swift, expected a run of"));
  EXPECT_NE(run_command({"report", device_sample, "--run", "vanilla"}).err, "");
  EXPECT_NE(run_command({"report", device_sample, "--device", "--phase", "sleep"}).err, "");
}

}  // namespace
}  // namespace draftscope::cli
