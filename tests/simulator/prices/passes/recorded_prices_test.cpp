// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "../fit/planted_trace.h"

namespace draftscope::simulator {
namespace {

/// Wall time of a run's rounds by its specification.
std::map<std::string, double> wall_ns_by_run(const traces::Recording& recording) {
  std::map<traces::RequestId, std::string> run_of_request;
  for (const traces::Request& request : recording.requests)
    for (const traces::Run& run : recording.runs)
      if (run.id == request.run_id) run_of_request[request.id] = run.specification;
  std::map<std::string, double> wall_ns;
  for (const traces::Round& round : recording.rounds)
    wall_ns[run_of_request[round.request_id]] += static_cast<double>(round.end_ns - round.start_ns);
  return wall_ns;
}

TEST(WhatIfOfARecordedRun, GivesTheTimeThatWasMeasuredWhateverTheLawMisses) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("draftscope-what-if-{}.dstrace", ::getpid());
  PlantedTrace planted{.truth = planted_cpu(),
                       .settings = {{0, 0}, {2, 2}, {4, 4}, {3, 5}, {6, 7}},
                       .with_operations = false,
                       .rounds_per_setting = 200};
  planted.of_rows = {{1, 1.1}, {3, 0.9}, {5, 1.3}, {6, 0.8}};
  planted.of_exit = {{2, 1.2}, {4, 0.85}};
  planted.interrupted_every_ns = 100e6;
  planted.interruption_ns = 50e6;
  write_planted_trace(planted, path);
  {
    auto reader = traces::Reader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto recording = reader->recording();
    ASSERT_TRUE(recording) << recording.error().message;
    const auto what_if = WhatIf::train(*reader, *recording);
    ASSERT_TRUE(what_if) << what_if.error().message;
    for (const auto& [run, wall_ns] : wall_ns_by_run(*recording)) {
      const auto rounds = what_if->rounds(run);
      ASSERT_TRUE(rounds) << rounds.error().message;
      const auto answer =
          ask(what_if->costs().model, *rounds, {"here", what_if->recorded_scenario()}, {.draws = 200});
      ASSERT_TRUE(answer) << answer.error().message;
      // 200 noisy rounds of one request determine the time to 3 to 5 %, and are shrunk to the law by as much.
      EXPECT_NEAR(1e9 * answer->tokens / answer->tokens_per_second / wall_ns, 1.0, 0.03) << run;
    }
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace
}  // namespace draftscope::simulator
