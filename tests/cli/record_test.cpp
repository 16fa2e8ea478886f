// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../value_of.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

std::string in_source(const std::string& path) {
  return DRAFTSCOPE_SOURCE_DIR + path;
}

traces::Recording record(const std::filesystem::path& path, const std::vector<std::string>& strategies) {
  std::vector<std::string> arguments =
      record_arguments(path, "--limit 3 --max-tokens 24 --repeats 3 --quiet");
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  expect_success(run_command(arguments));
  return value_of(value_of(traces::Reader::open(path)).recording());
}

TEST(Record, RepeatsAreTheSameExperimentWhateverAStrategyLearns) {
  const TemporaryFolder folder;
  const auto recording =
      record(folder / "run.dstrace", {"swift:every=1,window=4", "fs:exit=3", "dv:exit=5", "del", "clasp",
                                      "two-model:model=" + in_source("/models/demo-plain")});
  using Shape = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, double>;
  std::map<traces::RequestId, std::vector<Shape>> rounds;
  for (const traces::Round& round : recording.rounds)
    rounds[round.request_id].emplace_back(round.exit_layer, round.planned, round.drafted, round.accepted,
                                          round.threshold);
  std::map<std::pair<traces::RunId, traces::PromptId>, traces::RequestId> first;
  for (const traces::Request& request : recording.requests) {
    const auto [place, is_new] = first.try_emplace({request.run_id, request.prompt_id}, request.id);
    if (!is_new) {
      EXPECT_EQ(rounds[request.id], rounds[place->second]) << "run " << request.run_id;
    }
  }
  EXPECT_EQ(first.size(), 6U * 3U);
  EXPECT_EQ(recording.requests.size(), 6U * 3U * 3U);
}

TEST(Record, LetsEveryStrategyGoFirstAsOftenAndPairsThemPromptByPrompt) {
  const TemporaryFolder folder;
  const auto recording =
      record(folder / "run.dstrace", {"vanilla", "layerskip:gamma=2,exit=3", "layerskip:gamma=3"});
  EXPECT_EQ(recording.runs.at(1).specification, "layerskip:exit=3,gamma=2");
  EXPECT_EQ(recording.runs.at(2).specification, "layerskip:gamma=3") << "defaults are not named";
  constexpr std::size_t strategies = 3;
  constexpr std::size_t prompts = 3;
  ASSERT_EQ(recording.requests.size(), strategies * prompts * 3);
  for (std::size_t i = 0; i < recording.requests.size(); ++i) {
    const traces::Request& request = recording.requests[i];
    const std::size_t repeat = i / (strategies * prompts);
    const std::size_t prompt = i / strategies % prompts;
    const std::size_t first = (prompt + repeat) % strategies;
    EXPECT_EQ(request.repeat, static_cast<std::int32_t>(repeat));
    EXPECT_EQ(request.prompt_id, recording.prompts[prompt].id);
    EXPECT_EQ(request.run_id, recording.runs[(first + i % strategies) % strategies].id);
  }
}

TEST(Record, SaysWhatMemoryEachRunTook) {
  const TemporaryFolder folder;
  const auto recorded =
      record(folder / "run.dstrace", {"vanilla", "two-model:model=" + in_source("/models/demo-draft")});
  const auto vanilla = simulator::run_memory(recorded.meta, recorded.runs[0].id);
  const auto two_model = simulator::run_memory(recorded.meta, recorded.runs[1].id);
  ASSERT_TRUE(vanilla && two_model);
  EXPECT_EQ(std::to_string(vanilla->weight_bytes), recorded.meta.at("weight_bytes"));
  EXPECT_EQ(std::to_string(vanilla->kv_bytes), recorded.meta.at("kv_bytes"));
  EXPECT_EQ(vanilla->draft_weight_bytes, 0);
  EXPECT_EQ(two_model->weight_bytes, vanilla->weight_bytes);
  EXPECT_GT(two_model->draft_weight_bytes, 100000);
  EXPECT_GT(two_model->kv_bytes, vanilla->kv_bytes);
  // The pages that decoding read are resident, and most weights are among them.
  EXPECT_GT(vanilla->peak_bytes.value(), vanilla->weight_bytes / 2);
}

TEST(Record, RefusesInALineWhatOnlyAGpuHasAndModesThatAreGone) {
  const TemporaryFolder folder;
  for (const auto& [option, word, expected] :
       {std::tuple("--device-trace", "launches",
                   "device-trace: found launches for device cpu, expected auto or off"),
        std::tuple("--device-trace", "graph", "found 'graph', expected one of auto, off, launches"),
        std::tuple("--device-trace", "node", "found 'node', expected one of auto, off, launches"),
        std::tuple("--cuda-pass", "plain",
                   "cuda-pass: found plain for device cpu, expected it for cuda only"),
        std::tuple("--cuda-pass", "graph", "found 'graph', expected one of program, plain")}) {
    const CommandResult refused =
        run_line("record --model {} --prompts {} --strategy vanilla --output {} {} {}",
                 in_source("/models/demo-plain"), in_source("/traces/prompts/demo.jsonl"),
                 folder / "run.dstrace", option, word);
    EXPECT_NE(refused.exit_code, 0) << word;
    EXPECT_THAT(refused.err, testing::HasSubstr(expected));
    EXPECT_FALSE(std::filesystem::exists(folder / "run.dstrace"));
  }
}

}  // namespace
}  // namespace draftscope::cli
