// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of the demo models: what the engine did, round by round, must be what a replay says.
#include <draftscope/simulator/policy_choice.h>
#include <draftscope/simulator/replay_check.h>
#include <draftscope/simulator/replay_grid.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../cli/trace_files.h"

namespace draftscope::simulator {
namespace {

struct Recorded {
  traces::Recording recording;
  std::vector<ShadowTable> tables;
};

/// With `--shadow`, of the shipped prompts.
Result<Recorded> record(const std::string& model, const std::vector<std::string>& strategies,
                        const std::vector<std::string>& options) {
  const cli::TemporaryFolder folder;
  const std::string source = DRAFTSCOPE_SOURCE_DIR;
  const std::string file = (folder / "run.dstrace").string();
  std::vector<std::string> arguments{"record",   "--model",   source + "/models/" + model,
                                     "--shadow", "--threads", "1",
                                     "--quiet",  "--output",  file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  const cli::CommandResult result = cli::run_command(arguments);
  if (result.exit_code != 0) return fail("exit code {}: {}", result.exit_code, result.err);
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  Recorded recorded;
  DRAFTSCOPE_TRY_ASSIGN(recorded.recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(recorded.tables, shadow_tables(reader, recorded.recording));
  return recorded;
}

const std::vector<std::string>& strategies() {
  static const std::vector<std::string> all{"vanilla",
                                            "layerskip:exit=1,gamma=4",
                                            "layerskip:exit=3,gamma=6",
                                            "layerskip:exit=5,gamma=1",
                                            "layerskip:exit=6,gamma=12,verify=above-exit",
                                            "fs:exit=3",
                                            "fs:exit=2,least=0,gamma=0",
                                            "dv:exit=4",
                                            "dv:exit=2,rule=paper",
                                            "del:mode=published,prompt-window=0",
                                            "del:mode=repaired,prompt-window=0",
                                            "mix:length=heuristic,exit=4,stop=threshold,threshold=0.5",
                                            "mix:length=fs,stop=adaptive,rule=code,exit=3",
                                            "mix:mask=exit,exit=3,length=del,stop=none,prompt-window=0"};
  return all;
}

class RecordedRuns : public testing::TestWithParam<std::string> {};

TEST_P(RecordedRuns, AreWhatTheirReplaysSay) {
  const auto recorded =
      record(GetParam(), strategies(),
             {"--prompts", std::string(DRAFTSCOPE_SOURCE_DIR) + "/traces/prompts/demo.jsonl", "--max-tokens",
              "96", "--repeats", "2", "--context", "512"});
  ASSERT_TRUE(recorded) << recorded.error().message;
  for (const RunRows& run : rows_by_run(recorded->recording)) {
    const auto check = replays_recorded(run, recorded->tables, recorded->recording);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_NE(check->status, AnswerStatus::invalid) << run.run->specification << ": " << check->reason;
    printf("%s: %s requests %ld rounds %ld exact %ld bounded %ld untold %ld off-text ends %ld near %ld\n",
           run.run->specification.c_str(), std::string(answer_status_name(check->status)).c_str(),
           check->requests, check->rounds, check->exact_rounds, check->bounded_rounds, check->untold_plans,
           check->ended_off_text, check->near_threshold);
  }
}

INSTANTIATE_TEST_SUITE_P(Demo, RecordedRuns, testing::Values("demo-layerskip", "demo-plain"),
                         [](const auto& parameter) {
                           return parameter.param == "demo-plain" ? "Plain" : "LayerSkip";
                         });

}  // namespace
}  // namespace draftscope::simulator
