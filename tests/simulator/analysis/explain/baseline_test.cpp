// SPDX-License-Identifier: GPL-3.0-or-later
// Findings about the baseline: a vanilla step that is slow, and a machine that interrupted it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "made_recording.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

/// Rounds with drafts of all lengths, every third without one.
MadeRecording varied(int step_us, int verify_us) {
  return {.round =
              [=](int index) {
                const MadeRound step{.drafted = 0, .accepted = 0, .draft_us = 0, .verify_us = step_us};
                return index % 3 == 0 ? step : MadeRound{.accepted = index % 5, .verify_us = verify_us};
              },
          .vanilla_us = step_us};
}

TEST(SlowBaseline, GivesTheSpeedupThatIsMeasuredOverFairSteps) {
  for (const int verify_us : {400, 700, 900, 960}) {
    const MeasuredRecording slow = made_recording(varied(1000, verify_us));
    const Diagnosis found = only_diagnosis(slow);
    ASSERT_EQ(found.findings.front().row->key, "slow_baseline") << verify_us;
    const MeasuredRecording fair = made_recording(varied(verify_us, verify_us));
    ASSERT_TRUE(found.findings.front().speedup_without);
    EXPECT_NEAR(*found.findings.front().speedup_without, *only_diagnosis(fair).round.speedup, 1e-6);
    EXPECT_LT(*found.findings.front().speedup_without, *found.round.speedup);
    EXPECT_EQ(find(only_diagnosis(fair), "slow_baseline"), nullptr);
  }
}

TEST(SlowBaseline, IsFoundBelowAStepByMoreThanRepeatsAndSpreadDiffer) {
  const auto is_found = [](const MadeRecording& made) {
    return find(only_diagnosis(made_recording(made)), "slow_baseline") != nullptr;
  };
  EXPECT_TRUE(is_found(varied(1000, 960)));
  for (const int verify_us : {980, 1000, 1300}) EXPECT_FALSE(is_found(varied(1000, verify_us))) << verify_us;
  const auto scattered = [](int index) { return MadeRound{.verify_us = index % 3 == 0 ? 1300 : 700}; };
  EXPECT_FALSE(is_found({.round = scattered}));
  EXPECT_FALSE(is_found({.round = [](int) { return MadeRound{.verify_us = 500}; }, .with_vanilla = false}));
}

TEST(SlowBaseline, LeavesOutWhatADeviceIsGivenTogether) {
  const auto is_found = [](int verify_us, bool drafts_by_layers, const char* device) {
    const MeasuredRecording measured =
        made_recording({.round = [=](int) { return MadeRound{.verify_us = verify_us}; },
                        .drafts_by_layers = drafts_by_layers,
                        .meta = {{"device", device}}});
    return find(only_diagnosis(measured), "slow_baseline") != nullptr;
  };
  EXPECT_TRUE(is_found(940, true, "cpu"));
  EXPECT_TRUE(is_found(940, false, "cuda"));
  EXPECT_FALSE(is_found(940, true, "cuda")) << "its launch is the draft's";
  EXPECT_TRUE(is_found(900, true, "cuda"));
}

/// Drafts of four that are all kept, beside a vanilla run of which every third step takes 7 ms in place of 1.
MadeRecording over_interrupted_vanilla() {
  return {.interrupted_vanilla = 3, .interrupted_us = 7000};
}

TEST(SlowBaselineMean, GivesTheMeasuredSpeedupTimesTheVerificationInSteps) {
  const auto interrupted = over_interrupted_vanilla();
  for (const MadeRecording& made : {scattered_widths(300), scattered_widths(500), interrupted}) {
    const MeasuredRecording measured = made_recording(made);
    const Diagnosis diagnosis = only_diagnosis(measured);
    const Finding& finding = diagnosis.findings.front();
    ASSERT_EQ(finding.row->key, "slow_baseline_mean") << keys_of(diagnosis);
    EXPECT_DOUBLE_EQ(finding.figure, *diagnosis.round.takes) << "what its row says that it is";
    EXPECT_LT(finding.figure, finding.threshold);
    ASSERT_TRUE(finding.speedup_without);
    EXPECT_NEAR(*finding.speedup_without, *diagnosis.round.speedup * diagnosis.round.parts->verify, 1e-9);
  }
  const MeasuredRecording fair = made_recording({});
  const MeasuredRecording slow = made_recording(interrupted);
  EXPECT_NEAR(*only_diagnosis(slow).findings.front().speedup_without, *only_diagnosis(fair).round.speedup,
              1e-6)
      << "its verifications were not interrupted";
}

TEST(SlowBaselineMean, IsNotFoundWhereARoundTakesAStepOrMore) {
  const MeasuredRecording measured = made_recording(scattered_widths(600));
  EXPECT_EQ(find(only_diagnosis(measured), "slow_baseline_mean"), nullptr);
}

TEST(SlowBaselineMean, BlamesTheMachineWhereInterruptionsAloneMadeVanillaSlow) {
  const auto advice = [](const MadeRecording& made) {
    const MeasuredRecording measured = made_recording(made);
    const Diagnosis diagnosis = only_diagnosis(measured);
    const Finding* const finding = find(diagnosis, "slow_baseline_mean");
    return finding == nullptr ? std::string("not found") : finding->remedy;
  };
  EXPECT_THAT(advice(over_interrupted_vanilla()), ::testing::StartsWith("record again on a quiet machine"));
  EXPECT_THAT(advice(scattered_widths(500)), ::testing::StartsWith("mend the engine's pass over one row"));
  MadeRecording both = scattered_widths(300);
  both.interrupted_vanilla = 10;
  both.interrupted_us = 2500;
  EXPECT_THAT(advice(both), ::testing::StartsWith("mend the engine's pass over one row"))
      << "without the interruptions it is slow still";
}

TEST(MachineBusy, GivesTheSpeedupOfTheSameRunsWithoutInterruptions) {
  const MeasuredRecording quiet = made_recording({});
  const double speedup = *only_diagnosis(quiet).round.speedup;
  for (const int every : {3, 4, 6})
    for (const int times : {3, 8}) {
      // A round of 1.4 ms and a vanilla step of 1 ms are interrupted alike, then the round alone.
      MadeRecording made = alike({}, {.interrupted_vanilla = every, .interrupted_us = times * 1000});
      made.round = [=](int index) {
        return MadeRound{.verify_us = index % every == every - 1 ? times * 1400 - 400 : 1000};
      };
      const MeasuredRecording both = made_recording(made);
      const Diagnosis alike_interrupted = only_diagnosis(both);
      EXPECT_NEAR(*alike_interrupted.round.speedup, speedup, 1e-6);
      made.interrupted_vanilla = 0;
      const MeasuredRecording one = made_recording(made);
      for (const Diagnosis& diagnosis : {alike_interrupted, only_diagnosis(one)}) {
        const Finding* const finding = find(diagnosis, "machine_busy");
        ASSERT_NE(finding, nullptr) << keys_of(diagnosis);
        ASSERT_TRUE(finding->speedup_without);
        EXPECT_NEAR(*finding->speedup_without, speedup, 1e-6) << every << " " << times;
        EXPECT_THAT(
            finding->cost_sentence,
            HasSubstr("without interruptions of this run and of vanilla decoding the speedup would be"));
      }
    }
}

}  // namespace
}  // namespace draftscope::simulator
