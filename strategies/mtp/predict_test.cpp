// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording with drafts of the demo model's next-token layer says of other lengths, machines and auto.
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/prices.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "prices/passes/cost_prices.h"
#include "rounds/drafts/round_notes.h"
#include "tests/cli/trace_files.h"

namespace draftscope::simulator {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct MtpRecording {
  std::unique_ptr<traces::Recording> recording;  // What `what_if` asks.
  WhatIf what_if;
  std::vector<RunReplay> checks;
};

MtpRecording record_mtp(const std::vector<std::string>& strategies, const std::string& more = "") {
  const cli::TemporaryFolder folder;
  const std::filesystem::path file = folder / "run.dstrace";
  std::vector<std::string> arguments = cli::record_arguments(
      file, "--quiet --context 512 --limit 4 --repeats 1 --max-tokens 64 --strategy vanilla " + more, "code",
      "demo-mtp");
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  const cli::CommandResult result = cli::run_command(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  auto reader = traces::Reader::open(file);
  auto recording = std::make_unique<traces::Recording>(reader->recording().value());
  WhatIf what_if = WhatIf::train(*reader, *recording).value();
  auto checks = check_replays(*reader, *recording).value();
  return {std::move(recording), std::move(what_if), std::move(checks)};
}

const MtpRecording& mtp_recording() {
  static const MtpRecording all = record_mtp({"mtp:gamma=4", "auto:formats=none"});
  return all;
}

RoundStatistics sum_of_rounds(const StrategyRounds& rounds) {
  return sum_of(rounds.setting.min_drafted);
}

double mean_tokens(const StrategyRounds& rounds) {
  const RoundStatistics sum = sum_of_rounds(rounds);
  return static_cast<double>(sum.tokens) / static_cast<double>(sum.rounds);
}

TEST(NextTokenPrediction, AnswersForOtherLengthsFromTheRecordedDraft) {
  const MtpRecording others = record_mtp({"mtp:gamma=1", "mtp:gamma=2", "mtp:gamma=6"});
  for (const char* const strategy : {"mtp:gamma=1", "mtp:gamma=2", "mtp:gamma=6"}) {
    const auto predicted = mtp_recording().what_if.rounds(strategy);
    ASSERT_TRUE(predicted) << predicted.error().message;
    const auto measured = others.what_if.rounds(strategy);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_NEAR(mean_tokens(*predicted) / mean_tokens(*measured), 1.0, 0.15) << strategy;
    EXPECT_EQ(sum_of_rounds(*predicted).tokens, sum_of_rounds(*measured).tokens) << strategy;
    EXPECT_EQ(predicted->setting.status, AnswerStatus::approximate);
    EXPECT_THAT(predicted->notes, Contains(HasSubstr("begin where no recorded one did"))) << strategy;
  }
}

TEST(NextTokenPrediction, CountsADraftStepForEachTokenAndReadsEachStateOnce) {
  const StrategyRounds rounds = mtp_recording().what_if.rounds("mtp:gamma=4").value();
  EXPECT_EQ(rounds.setting.status, AnswerStatus::exact);
  const RoundStatistics sum = sum_of_rounds(rounds);
  std::int64_t steps = 0;
  std::int64_t read = 0;
  for (std::size_t i = 0; i < rounds.auxiliary_passes.size(); ++i) {
    const AuxiliaryPass& pass = rounds.auxiliary_passes[i];
    EXPECT_EQ(pass.kind, AuxiliaryPassKind::next_token);
    (pass.has_head ? steps : read) += sum.auxiliary[i].passes * pass.rows;
  }
  EXPECT_EQ(steps, sum.drafted);
  // Each accepted token has a state, which the next draft reads, if there is one.
  EXPECT_LE(read, sum.accepted);
  EXPECT_GT(read, sum.accepted / 2);
}

TEST(NextTokenPrediction, PricesTheLayerOnOtherMachinesAsTheDraftCostDoes) {
  const WhatIf& what_if = mtp_recording().what_if;
  Scenario scenario = what_if.recorded_scenario();
  EXPECT_TRUE(scenario.has_next_token_layer);
  scenario.gpu = find_gpu("H100-SXM").value();
  scenario.drafts = {{1, 1, std::nullopt}};
  scenario.auxiliary_passes = {next_token_step};
  const Prices layer = prices(what_if.costs().model, scenario).value();
  scenario.draft_cost = parse_draft_cost("mtp").value();
  const Prices cost = prices(what_if.costs().model, scenario).value();
  EXPECT_DOUBLE_EQ(layer.auxiliary[0].at(100.0), cost.drafts[1].step.at(100.0));
  scenario.draft_cost = parse_draft_cost("one-layer").value();
  EXPECT_LT(prices(what_if.costs().model, scenario).value().drafts[1].step.at(100.0),
            layer.auxiliary[0].at(100.0));
  scenario.has_next_token_layer = false;
  scenario.draft_cost = parse_draft_cost("mtp").value();
  EXPECT_THAT(check_scenario(scenario).error().message, HasSubstr("names no next-token layer"));
}

TEST(NextTokenPrediction, AutoIsReplayedAndPredictedWithTheLayer) {
  bool drafted = false;
  for (const RunReplay& check : mtp_recording().checks) {
    if (!check.strategy.starts_with("auto")) continue;
    EXPECT_EQ(check.check.status, AnswerStatus::exact) << check.check.reason;
  }
  const StrategyRounds measured = mtp_recording().what_if.rounds("auto:formats=none").value();
  for (const AuxiliaryPass& pass : measured.auxiliary_passes)
    drafted = drafted || pass.kind == AuxiliaryPassKind::next_token;
  EXPECT_TRUE(drafted);
  const MtpRecording without = record_mtp({"mtp:gamma=4"});
  const auto predicted = without.what_if.rounds("auto:formats=none");
  ASSERT_TRUE(predicted) << predicted.error().message;
  EXPECT_THAT(predicted->notes, Contains(HasSubstr("next-token layer drafts as in run mtp:gamma=4")));
  EXPECT_GT(sum_of_rounds(*predicted).auxiliary.at(0).passes, 0);
  EXPECT_EQ(sum_of_rounds(*predicted).tokens, sum_of_rounds(measured).tokens);
  const MtpRecording vanilla = record_mtp({});
  EXPECT_THAT(vanilla.what_if.rounds("auto:formats=none").value().notes,
              Contains(HasSubstr("left out: next-token layer, of which nothing is recorded (record mtp")));
}

// The layer's mask is that of the whole target, whose last layer's shadow tokens are the text.
TEST(NextTokenPrediction, TakesNoShadowTokensForTheLayersDrafts) {
  const MtpRecording shadowed = record_mtp({}, "--shadow");
  const auto rounds = shadowed.what_if.rounds("auto:formats=none");
  ASSERT_TRUE(rounds) << rounds.error().message;
  EXPECT_THAT(rounds->notes, Contains(HasSubstr("left out: next-token layer")));
}

}  // namespace
}  // namespace draftscope::simulator
