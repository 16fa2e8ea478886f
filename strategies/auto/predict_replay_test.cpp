// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of auto by a demo model: its rule, given the recorded rounds again, must decide as it did.
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "strategies/auto/predict_replay.h"
#include "tests/cli/trace_files.h"

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;

const std::vector<std::string>& automatic() {
  static const std::vector<std::string> all{"auto", "auto:formats=q8_0,exits=3+5,max-gamma=5,loss=0.5",
                                            "auto:formats=none,skip-attention=2+4,skip-mlp=3"};
  return all;
}

struct Recorded {
  traces::Recording recording;
  std::map<traces::RoundId, nlohmann::json> details;  ///< Details of the draft choices.
  std::vector<RunReplay> checks;
};

void record(const std::vector<std::string>& options, Recorded& recorded) {
  const cli::TemporaryFolder folder;
  const std::filesystem::path file = folder / "run.dstrace";
  std::vector<std::string> arguments =
      cli::record_arguments(file, "--quiet --context 512 --strategy vanilla");
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const std::string& strategy : automatic()) arguments.insert(arguments.end(), {"--strategy", strategy});
  const cli::CommandResult result = cli::run_command(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  auto reader = traces::Reader::open(file);
  ASSERT_TRUE(reader) << reader.error().message;
  recorded.recording = reader->recording().value();
  const auto strings = reader->strings().value();
  const auto seen = reader->decisions([&](const traces::Decision& decision) {
    if (strings.at(decision.kind_id) == "draft choice")
      recorded.details[decision.round_id] = nlohmann::json::parse(decision.detail);
    return true;
  });
  ASSERT_TRUE(seen);
  auto checks = check_replays(*reader, recorded.recording);
  ASSERT_TRUE(checks) << checks.error().message;
  recorded.checks = *std::move(checks);
}

/// Expects the choice as the engine wrote it; numbers agree to the digits that it wrote.
void expect_decided(const speculation::AutoChoice& choice,
                    const std::vector<speculation::AutoDrafter>& drafters, const nlohmann::json& detail) {
  EXPECT_EQ(detail.at("choice"), speculation::auto_kind_name(choice.kind));
  EXPECT_EQ(detail.at("reason"), speculation::auto_reason_name(choice.reason));
  const std::string drafter =
      choice.drafter < 0 ? std::string() : drafters.at(static_cast<std::size_t>(choice.drafter)).name;
  EXPECT_EQ(detail.at("drafter"), drafter);
  EXPECT_EQ(detail.at("length"), choice.length);
  EXPECT_EQ(detail.at("threshold"), choice.threshold);
  EXPECT_NEAR(detail.at("expected_tokens").get<double>(), choice.expected_tokens, 0.51e-4);
  EXPECT_NEAR(detail.at("expected_cost").get<double>(), choice.expected_cost, 0.51e-4);
  EXPECT_NEAR(detail.at("next_rate").get<double>(), choice.next_rate, 0.51e-4);
  EXPECT_NEAR(detail.at("may_lose").get<double>(), choice.balance, 0.51e-3);
}

void expect_same_decisions(const Recorded& recorded) {
  std::set<std::string> kinds;
  std::size_t runs = 0;
  for (const RunRows& run : rows_by_run(recorded.recording)) {
    if (run.run->is_baseline) continue;
    ++runs;
    const auto replay = replay_auto(run, recorded.recording);
    ASSERT_TRUE(replay) << replay.error().message;
    ASSERT_EQ(replay->choices.size(), run.requests.size());
    for (std::size_t i = 0; i < run.requests.size(); ++i)
      for (std::size_t k = 0; k < run.requests[i].rounds.size(); ++k) {
        const nlohmann::json& detail = recorded.details.at(run.requests[i].rounds[k].id);
        kinds.insert(detail.at("choice").get<std::string>() + " " + detail.at("reason").get<std::string>());
        SCOPED_TRACE(
            fmt::format("{}, request {}, round {}: {}", run.run->specification, i, k, detail.dump()));
        expect_decided(replay->choices[i][k], replay->drafters, detail);
        if (testing::Test::HasFailure()) return;
      }
  }
  EXPECT_EQ(runs, automatic().size());
  for (const char* const kind : {"vanilla measure", "text best", "model trial"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  ASSERT_EQ(recorded.checks.size(), automatic().size());
  for (const RunReplay& check : recorded.checks) {
    EXPECT_EQ(check.check.status, AnswerStatus::exact) << check.strategy << ": " << check.check.reason;
    EXPECT_EQ(check.check.exact_rounds, check.check.rounds);
    EXPECT_GT(check.check.rounds, 0);
  }
}

TEST(AutoReplay, DecidesEveryRecordedRoundAsTheEngineDid) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--limit", "4", "--max-tokens", "64", "--repeats", "2"},
        {"--limit", "3", "--max-tokens", "48", "--repeats", "1", "--temperature", "0.8"}}) {
    Recorded recorded;
    record(options, recorded);
    if (HasFatalFailure()) return;
    expect_same_decisions(recorded);
  }
}

TEST(AutoReplay, SaysWhichRoundDiffers) {
  Recorded recorded;
  record({"--limit", "2", "--max-tokens", "48", "--repeats", "1"}, recorded);
  if (HasFatalFailure()) return;
  for (traces::Round& round : recorded.recording.rounds) ++round.planned;
  for (const RunRows& run : rows_by_run(recorded.recording)) {
    if (run.run->specification != "auto") continue;
    const auto check = auto_replays_recorded(run, recorded.recording);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->status, AnswerStatus::invalid);
    EXPECT_THAT(check->reason, HasSubstr("round 0: planned 1, replay says 0"));
  }
}

TEST(AutoReplay, IsOfRunsOfAutoAlone) {
  const traces::Recording recording = cli::small_recording();
  for (const RunRows& run : rows_by_run(recording)) {
    EXPECT_FALSE(is_auto(*run.run, 12));
    EXPECT_FALSE(replay_auto(run, recording));
  }
}

}  // namespace
}  // namespace draftscope::simulator
