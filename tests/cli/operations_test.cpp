// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope report --by operation`, on a recording of an H200, and times by kind of operation.
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../value_of.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* timed_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-llama-1b-operations.dstrace";
constexpr const char* processor_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";

std::vector<simulator::OperationTimes> operation_times_of(const std::filesystem::path& file) {
  traces::Reader reader = value_of(traces::Reader::open(file));
  return value_of(simulator::read_operation_times(reader, value_of(reader.recording())));
}

TEST(ReportByOperation, GivesEachPhaseItsTimeWithoutRest) {
  const json document = printed_json("report {} --by operation --json", timed_sample);
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
  const json document = printed_json("report {} --by operation --json", timed_sample);
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
  const json document = printed_json("report {} --by operation --json", timed_sample);
  const std::string csv = run_line("report {} --by operation --csv", timed_sample).out;
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')),
            1 + document["operations"].size());
  const std::string text = run_line("report {} --by operation", timed_sample).out;
  EXPECT_THAT(text, HasSubstr("vanilla, verify"));
  EXPECT_THAT(text, HasSubstr("of reading"));
}

/// Attention, MLP and head add up the operations of their names, without norms of their own on this device.
TEST(OperationTimes, AddUpTheOperationsOfADevice) {
  const json document = printed_json("report {} --by operation --json", timed_sample);
  const std::map<std::string, std::string> kinds{{"qkv", "attention"},
                                                 {"attention", "attention"},
                                                 {"output projection", "attention"},
                                                 {"gate up", "MLP"},
                                                 {"down", "MLP"},
                                                 {"head", "head"}};
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> expected, found;
  for (const json& row : document["operations"])
    if (const auto kind = kinds.find(row["operation"]); kind != kinds.end())
      expected[{row["run_id"], kind->second}] += row["ns"].get<std::int64_t>();
  for (const simulator::OperationTimes& times : operation_times_of(timed_sample))
    for (std::size_t kind = 0; kind < simulator::operation_kinds.size(); ++kind)
      found[{times.run.value(), std::string(simulator::operation_kinds[kind])}] += times.ns[kind];
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(found, expected);
}

TEST(OperationTimes, AddUpTheSpansOfAProcessorWithinTheirPhases) {
  const TemporaryFolder folder;
  for (const std::string level : {"ops", "layers"}) {
    const auto trace = folder / (level + ".dstrace");
    record_trace(trace, "-n 6 --limit 1 --repeats 1 -q -s vanilla -s layerskip --level " + level);
    const auto all = operation_times_of(trace);
    EXPECT_EQ(all.size(), level == "ops" ? 3U : 0U) << "verification of both, drafts of one";
    const json runs = printed_json("report {} --json", trace)["runs"];
    const CommandResult printed = run_line("report {} --by operation --json", trace);
    EXPECT_EQ(printed.exit_code, level == "ops" ? 0 : 1) << printed.err;
    if (level == "ops") {
      EXPECT_EQ(json::parse(printed.out)["kinds"].size(), all.size());
      EXPECT_THAT(run_line("report {} --by operation", trace).out, HasSubstr("MLP"));
      expect_one_line(run_line("report {} --by operation --csv", trace), "--csv: found no device in");
    }
    for (const simulator::OperationTimes& times : all) {
      std::int64_t sum = 0;
      for (const std::int64_t ns : times.ns) {
        EXPECT_GT(ns, 0);
        sum += ns;
      }
      for (const json& run : runs)
        if (run["run_id"] == times.run.value()) {
          EXPECT_LE(sum, run["breakdown"][std::string(traces::phase_name(times.phase)) + "_ns"]);
        }
    }
  }
}

TEST(ReportByOperation, IsRefusedWhereNoDeviceWasRecorded) {
  const auto printed = run_line("report {} --by operation", processor_sample);
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("no device was recorded, expected one for --by operation"));
}

}  // namespace
}  // namespace draftscope::cli
