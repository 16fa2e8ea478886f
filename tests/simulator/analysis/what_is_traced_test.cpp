// SPDX-License-Identifier: GPL-3.0-or-later
// The expected factors of the samples come from a sum by SQL and Python over rounds of one specification,
// prompt text, repeat and index.
#include <draftscope/simulator/analysis/what_is_traced.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "../../value_of.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

traces::Recording sample(const char* name) {
  auto reader =
      value_of(traces::Reader::open(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "traces/samples" / name));
  return value_of(reader.recording());
}

TEST(TracingCost, IsMeasuredOnTheRoundsOfBoth) {
  const traces::Recording graphs = sample("h200-smollm2-graph.dstrace");
  const traces::Recording kernels = sample("h200-smollm2-node.dstrace");
  const auto cost = tracing_cost(Baseline(graphs), Comparison(kernels));
  ASSERT_TRUE(cost);
  EXPECT_TRUE(cost->is_of_comparison);
  EXPECT_NEAR(cost->factor, 1.2861866, 1e-6);
  EXPECT_NEAR(cost->lowest, 1.2103284, 1e-6);
  EXPECT_NEAR(cost->highest, 1.3740314, 1e-6);
  EXPECT_EQ(cost->runs, 2U);
  EXPECT_EQ(cost->rounds, 22U);
  EXPECT_THAT(cost->sentence, HasSubstr("Tracing every kernel made rounds 1.29 times as long"));
  const auto swapped = tracing_cost(Baseline(kernels), Comparison(graphs));
  ASSERT_TRUE(swapped);
  EXPECT_FALSE(swapped->is_of_comparison);
  EXPECT_EQ(swapped->sentence, cost->sentence);
}

TEST(TracingCost, IsTheFactorByWhichRoundsAreLonger) {
  const traces::Recording timed = sample("h200-llama-1b-operations.dstrace");
  traces::Recording launches = sample("h200-llama-1b-operations.dstrace");
  launches.meta["device_trace"] = "launches";
  for (traces::Round& round : launches.rounds) round.end_ns += round.end_ns - round.start_ns;
  const auto cost = tracing_cost(Baseline(launches), Comparison(timed));
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->factor, 0.5);
  EXPECT_DOUBLE_EQ(cost->lowest, 0.5);
  EXPECT_DOUBLE_EQ(cost->highest, 0.5);
  EXPECT_EQ(cost->rounds, timed.rounds.size());
}

TEST(TracingCost, IsAbsentWhereMoreThanTheTraceDiffers) {
  const traces::Recording graphs = sample("h200-smollm2-graph.dstrace");
  EXPECT_FALSE(tracing_cost(Baseline(graphs), Comparison(graphs))) << "one detail";
  for (const char* const key : {"model", "processor", "launches", "weights", "device"}) {
    traces::Recording kernels = sample("h200-smollm2-node.dstrace");
    kernels.meta[key] = "cpu";
    EXPECT_FALSE(tracing_cost(Baseline(graphs), Comparison(kernels))) << key;
  }
  traces::Recording kernels = sample("h200-smollm2-node.dstrace");
  kernels.meta["device_trace"] = "unheard of";
  EXPECT_FALSE(tracing_cost(Baseline(graphs), Comparison(kernels)));
}

TEST(HowLaunched, IsSaidByTheRecordingOrFollowsFromAnOldTraceOfGraphs) {
  EXPECT_EQ(how_launched({{"launches", "program"}}), "one kernel a pass or round");
  EXPECT_THAT(how_launched({{"launches", "plain"}, {"device_trace", "operations"}}), HasSubstr("operation"));
  EXPECT_THAT(how_launched({{"device_trace", "node"}}), HasSubstr("not recorded"));
  EXPECT_EQ(how_launched({{"device_trace", "launches"}}), "");
}

}  // namespace
}  // namespace draftscope::simulator
