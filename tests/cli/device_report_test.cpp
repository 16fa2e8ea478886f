// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope report --device` and `compare --device`, on recordings of an H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
  expect_sums(printed_json("report {} --device --json", device_sample));
  const json run = printed_json("report {} --device --run vanilla --json", device_sample);
  expect_sums(run);
  EXPECT_EQ(run["run"], "vanilla");
  std::int64_t wall_ns = 0;
  for (const char* phase : {"prefill", "draft", "verify", "accept", "optimise", "control", "sync", "idle"}) {
    const json of_phase =
        printed_json("report {} --device --run vanilla --phase {} --json", device_sample, phase);
    expect_sums(of_phase);
    wall_ns += of_phase["wall_ns"].get<std::int64_t>();
  }
  EXPECT_EQ(wall_ns, run["wall_ns"].get<std::int64_t>());
}

TEST(ReportDevice, FitsAHundredColumns) {
  std::istringstream text(run_line("report {} --device -q", device_sample).out);
  for (std::string line; std::getline(text, line);) EXPECT_LE(display_width(line), 100U) << line;
}

TEST(ReportDevice, SaysWhatABoundIsOf) {
  const std::string text = run_line("report {} --device", device_sample).out;
  EXPECT_THAT(text, HasSubstr("A vanilla step reads"));
  EXPECT_THAT(text, HasSubstr("bytes that follow from the model's sizes"));
  EXPECT_THAT(text, HasSubstr("launch"));
}

TEST(ReportDevice, RefusesWhatItCannotTell) {
  EXPECT_THAT(run_line("report {} --device", processor_sample).err,
              HasSubstr("no device was recorded, expected one for --device"));
  EXPECT_THAT(run_line("report {} --device --run swift", device_sample).err,
              HasSubstr("--run: found swift, expected a run of"));
  EXPECT_NE(run_line("report {} --run vanilla", device_sample).err, "");
  EXPECT_NE(run_line("report {} --device --phase sleep", device_sample).err, "");
}

constexpr const char* graph_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-graph.dstrace";

json devices_beside(const char* first, const char* other) {
  return printed_json("compare {} {} --device --json", first, other);
}

double sum_of(const json& rows, const char* key) {
  double sum = 0.0;
  for (const json& row : rows)
    if (row[key].is_number()) sum += row[key].get<double>();
  return sum;
}

TEST(CompareDevice, PhasesAddUpToATokenAndSoDoOperationsAndGaps) {
  const json beside = devices_beside(graph_sample, device_sample);
  for (const auto& [side, key] : {std::pair("first", "first_ns"), std::pair("other", "other_ns")}) {
    const double whole_ns = beside[side]["ns_per_token"].get<double>();
    EXPECT_GT(whole_ns, 0.0);
    EXPECT_NEAR(sum_of(beside["phases"], key), whole_ns, 1e-6 * whole_ns);
    EXPECT_NEAR(sum_of(beside["operations"], key) + sum_of(beside["gaps"], key), whole_ns, 1e-6 * whole_ns);
  }
  const json turned = devices_beside(device_sample, graph_sample);
  const json same = devices_beside(device_sample, device_sample);
  for (const char* part : {"phases", "operations", "gaps"}) {
    double before = std::numeric_limits<double>::infinity();
    for (const json& row : beside[part]) {
      const double difference_ns = row["difference_ns"].get<double>();
      EXPECT_LE(std::abs(difference_ns), before) << row;
      before = std::abs(difference_ns);
    }
    EXPECT_NEAR(sum_of(turned[part], "difference_ns"), -sum_of(beside[part], "difference_ns"), 1e-3);
    for (const json& row : same[part]) EXPECT_EQ(row["difference_ns"], 0.0) << row;
  }
}

TEST(CompareDevice, ComparesPhasesWhereOneHasNoDevice) {
  const json beside = devices_beside(processor_sample, device_sample);
  EXPECT_EQ(beside["first"]["has_device"], false);
  EXPECT_FALSE(beside["operations"].empty());
  for (const json& row : beside["operations"]) {
    EXPECT_TRUE(row["first_ns"].is_null() && row["difference_ns"].is_null()) << row;
    EXPECT_GT(row["other_ns"].get<double>(), 0.0);
  }
  for (const json& row : beside["phases"]) EXPECT_TRUE(row["difference_ns"].is_number()) << row;
  const std::string text = run_line("compare {} {} --device", processor_sample, device_sample).out;
  EXPECT_THAT(text, HasSubstr("no times of a device"));
  EXPECT_THAT(text, HasSubstr("verify"));
}

TEST(CompareDevice, RefusesWhatItCannotCompare) {
  EXPECT_THAT(run_line("compare {} --device", device_sample).err, HasSubstr("found 1 files, expected two"));
  EXPECT_THAT(run_line("compare {} {} --device --run dv", device_sample, graph_sample).err,
              HasSubstr("found no run dv, expected one"));
  EXPECT_NE(run_line("compare {} {} --run vanilla", device_sample, graph_sample).err, "");
  expect_success(
      run_line("compare {} {} --device --run prompt-lookup --other-run auto", device_sample, graph_sample));
}

}  // namespace
}  // namespace draftscope::cli
