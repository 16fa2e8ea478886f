// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../temporary_folder.h"
#include "advice/learnt.h"

namespace draftscope::simulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* recorded = "layerskip:exit=3,gamma=4";

MeasuredBeside compared(const Learnt& learnt, const Answer& answer, const MeasuredSetting& run) {
  return measured_beside(answer, run, learnt.what_if().costs().report, learnt.recording().meta);
}

TEST(MeasuredBeside, IsWhatTheReportSaysOfDecodingAlone) {
  const test::TemporaryFolder folder;
  write_shadowed_recording({}, folder / "trace.dstrace");
  const auto report = measure_recording(folder / "trace.dstrace");
  ASSERT_TRUE(report) << report.error().message;
  const std::vector<MeasuredSetting> all = measured_settings(*report->recording);
  std::size_t found = 0;
  for (const RunFigures& figures : report->figures.runs)
    for (const MeasuredSetting& measured : all) {
      if (measured.strategy != figures.all.run->specification) continue;
      ++found;
      EXPECT_DOUBLE_EQ(measured.speedup, figures.all.speedup->decode_value.value());
      EXPECT_NEAR(measured.tokens_per_second, figures.all.throughput.decode_tokens_per_second.value(), 1e-6);
      EXPECT_GE(measured.round_spread, 1.0);
      ASSERT_TRUE(measured.interval_95);
      EXPECT_LE(measured.interval_95->low, measured.speedup);
      EXPECT_GE(measured.interval_95->high, measured.speedup);
    }
  EXPECT_EQ(found, 2U) << "vanilla is what they are measured against";
  EXPECT_EQ(all.size(), found);
}

TEST(MeasuredBeside, IsFoundForItsOwnStrategyAlone) {
  const Learnt learnt({});
  const std::vector<MeasuredSetting> runs = measured_settings(learnt.recording());
  const MeasuredSetting* run = measured_setting_of(answer_of(learnt, recorded, learnt.machine()), runs);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->strategy, recorded);
  EXPECT_EQ(measured_setting_of(answer_of(learnt, "layerskip:exit=2,gamma=3", learnt.machine()), runs),
            nullptr);
}

TEST(MeasuredBeside, BelongsToTheRecordedMachineAlone) {
  const Learnt learnt({});
  const Scenario scenario = learnt.what_if().recorded_scenario();
  EXPECT_TRUE(is_recorded_machine(asked_machine(scenario, scenario).value(), scenario));
  Scenario elsewhere = scenario;
  elsewhere.gpu = known_gpus().front();
  Scenario batch = scenario;
  batch.batch = 2;
  for (const Scenario& other : {elsewhere, batch})
    EXPECT_FALSE(is_recorded_machine(asked_machine(other, scenario).value(), scenario));
}

TEST(MeasuredBeside, SaysByHowMuchThePredictionIsOffAndWhatThatMayComeFrom) {
  const Learnt learnt({});
  const Answer answer = answer_of(learnt, recorded, learnt.machine());
  const std::vector<MeasuredSetting> runs = measured_settings(learnt.recording());
  MeasuredSetting run = *measured_setting_of(answer, runs);
  const double predicted = answer.speedup.min_drafted.value;
  run.speedup = predicted;
  const MeasuredBeside same = compared(learnt, answer, run);
  EXPECT_FALSE(same.differs);
  EXPECT_TRUE(same.reasons.empty());
  EXPECT_EQ(same.relative_error, 0.0);
  EXPECT_THAT(beside_line(same, Characters::ascii),
              AllOf(HasSubstr("they agree"), HasSubstr("without prefill")));
  run.speedup = 2.0 * predicted;
  run.round_spread = 3.1;
  const MeasuredBeside half = compared(learnt, answer, run);
  EXPECT_TRUE(half.differs);
  const std::string line = beside_line(half, Characters::ascii);
  EXPECT_THAT(line,
              AllOf(HasSubstr("50 % too low"), HasSubstr("p99/p50 is 3.1"), HasSubstr("the fit is off")));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  run.speedup = 0.5 * predicted;
  EXPECT_THAT(beside_line(compared(learnt, answer, run), Characters::ascii), HasSubstr("100 % too high"));
}

TEST(MeasuredBeside, IsFivePercentOffWithoutAnInterval) {
  const Learnt learnt({});
  Answer answer = answer_of(learnt, recorded, learnt.machine());
  answer.speedup.min_drafted.interval_95.reset();
  answer.speedup.max_drafted.reset();
  MeasuredSetting run{.strategy = recorded};
  for (const auto& [factor, differs] : {std::pair(1.04, false), {0.96, false}, {1.06, true}, {0.94, true}}) {
    run.speedup = factor * answer.speedup.min_drafted.value;
    EXPECT_EQ(compared(learnt, answer, run).differs, differs) << factor;
  }
}

}  // namespace
}  // namespace draftscope::simulator
