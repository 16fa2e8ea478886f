// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the explanation of a run's speed: the steps from vanilla's time per token to the run's, and the
// sentences.
#include <gtest/gtest.h>

#include <random>

#include "data/details/recording_diagnosis.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using simulator::RoundAccount;
using simulator::RoundParts;
using simulator::RoundUnit;

RoundAccount account(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0.0, 2.0);
  RoundAccount round;
  round.rounds = 100;
  round.unit = RoundUnit::vanilla_step;
  round.unit_ns = 1e5 * (0.1 + share(random));
  round.parts = RoundParts{share(random), 0.5 + share(random), 0.1 * share(random), 0.01 * share(random),
                           0.1 * share(random)};
  round.takes = round.parts->draft + round.parts->verify + round.parts->decide + round.parts->accept +
                round.parts->outside;
  round.yields = 1.0 + 3.0 * share(random);
  return round;
}

TEST(TokenWaterfall, EachStepBeginsWhereTheOneBeforeEndedAndTheLastEndsAtTheRun) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const RoundAccount round = account(random);
    const std::vector<TokenTimeStep> steps = token_waterfall(round);
    ASSERT_EQ(steps.size(), 8U);
    EXPECT_EQ(steps.front().what, TokenTime::vanilla);
    EXPECT_EQ(steps.back().what, TokenTime::run);
    EXPECT_DOUBLE_EQ(steps.front().ns, round.unit_ns);
    for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
      EXPECT_FALSE(steps[i].is_end());
      EXPECT_NEAR(steps[i].before_ns, steps[i - 1].after_ns(), 1e-6 * round.unit_ns);
    }
    EXPECT_NEAR(steps[6].after_ns(), steps.back().ns, 1e-6 * round.unit_ns);
    // The speedup is the ratio of the first step to the last one.
    EXPECT_NEAR(steps.front().ns / steps.back().ns, *round.yields / *round.takes, 1e-9);
  }
}

TEST(TokenWaterfall, SavesByTokensPerStepAndCostsByDrafting) {
  const RoundAccount round{.rounds = 1,
                           .unit = RoundUnit::vanilla_step,
                           .unit_ns = 600.0,
                           .takes = 3.5,
                           .parts = RoundParts{.draft = 1.2, .verify = 2.3},
                           .yields = 3.0};
  const std::vector<TokenTimeStep> steps = token_waterfall(round);
  ASSERT_EQ(steps.size(), 8U);
  EXPECT_NEAR(steps[1].ns, -400.0, 1e-9);
  EXPECT_NEAR(steps[2].ns, 260.0, 1e-9);
  EXPECT_NEAR(steps[3].ns, 240.0, 1e-9);
  EXPECT_NEAR(steps[7].ns, 700.0, 1e-9);
}

TEST(TokenWaterfall, NeedsAVanillaRunAndTheTimesOfPhases) {
  std::mt19937 random(3);
  const RoundAccount whole = account(random);
  for (const auto& spoil :
       {+[](RoundAccount& of) { of.unit = RoundUnit::own_verification; },
        +[](RoundAccount& of) { of.parts.reset(); }, +[](RoundAccount& of) { of.takes.reset(); },
        +[](RoundAccount& of) { of.yields.reset(); }, +[](RoundAccount& of) { of.unit_ns = 0.0; }}) {
    RoundAccount spoilt = whole;
    spoil(spoilt);
    EXPECT_TRUE(token_waterfall(spoilt).empty());
  }
}

TEST(RecordingDiagnosis, HasTheSentencesOfEveryRunButTheVanillaOne) {
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "sample.dstrace", {.runs = 3, .requests_per_run = 4, .max_rounds = 30});
  const RecordingPointer recording = OpenedRecording::open(folder / "sample.dstrace").value();
  const DiagnosisPointer made = diagnose(recording, Remedies::named);
  const auto measured = simulator::measure_recording(folder / "sample.dstrace");
  ASSERT_TRUE(measured);
  const std::vector<simulator::Diagnosis> expected = simulator::explain(*measured);
  ASSERT_EQ(expected.size(), 2U);
  std::size_t next = 0;
  for (std::size_t run = 0; run < recording->runs().size(); ++run) {
    const simulator::Diagnosis* found = made->of(run);
    ASSERT_EQ(found == nullptr, recording->runs()[run].run->is_baseline);
    if (found == nullptr) continue;
    EXPECT_EQ(found->summary, expected[next].summary);
    ASSERT_EQ(found->findings.size(), expected[next].findings.size());
    for (std::size_t i = 0; i < found->findings.size(); ++i)
      EXPECT_EQ(found->findings[i].sentence, expected[next].findings[i].sentence);
    ++next;
  }
}

}  // namespace
}  // namespace draftscope::gui
