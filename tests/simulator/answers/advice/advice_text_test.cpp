// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/advice_text.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;

Advice example() {
  Advice advice;
  advice.machine = "as recorded batch 4";
  advice.verdict = Verdict::speculate;
  advice.reason = "faster than vanilla: 1.12 to 1.37 (95 %)";
  advice.strategy = advice.fastest = "layerskip:exit=4,gamma=3";
  advice.speedup = 1.284;
  advice.interval_95 = Interval{1.12, 1.37};
  advice.neighbours = {{"E-1", "layerskip:exit=3,gamma=3", -0.056},
                       {"gamma+1", "layerskip:exit=4,gamma=4", 0.0}};
  advice.near_ties = NearTieEffect{.at_risk = 4, .positions = 40, .rejected = 1.3, .accepted = 0.78};
  advice.gaps = WaterfallGaps{};
  advice.gaps->tuning.value = 0.1;
  advice.gaps->learning = WaterfallFigure{.value = -0.2};
  advice.gaps->information.value = 0.3;
  advice.gaps->hardware.value = 8.0;
  return advice;
}

std::string words_of(const Advice& advice, std::string_view about,
                     Characters characters = Characters::ascii) {
  for (const AdviceLine& line : advice_lines(advice, characters))
    if (line.about == about) return line.words;
  ADD_FAILURE() << "no line about " << about;
  return {};
}

TEST(AdviceText, SaysTheVerdictFirst) {
  Advice advice = example();
  EXPECT_EQ(advice_headline(advice), "On the recorded machine batch 4: set layerskip:exit=4,gamma=3");
  EXPECT_EQ(words_of(advice, "gain"), "1.28x over vanilla decoding, 95 % 1.12..1.37");
  advice.machine = "L4";
  advice.verdict = Verdict::measure_first;
  advice.reason = "too few prompts";
  advice.exit_there = 9;
  EXPECT_EQ(advice_headline(advice), "On L4: measure first (too few prompts)");
  EXPECT_THAT(words_of(advice, "fastest"), HasSubstr("layerskip:exit=4,gamma=3 (exit 9 there): 1.28x over"));
}

TEST(AdviceText, HasOneLineAboutEachThing) {
  Advice advice = example();
  for (const Verdict verdict : {Verdict::speculate, Verdict::measure_first, Verdict::do_not_speculate}) {
    advice.verdict = verdict;
    const auto lines = advice_lines(advice, Characters::unicode);
    EXPECT_EQ(lines.size(), 9U);
    for (const AdviceLine& line : lines) {
      EXPECT_FALSE(line.words.empty()) << line.about;
      EXPECT_EQ(line.words.find('\n'), std::string::npos) << line.about;
    }
  }
}

TEST(AdviceText, SaysUpToWhichBatchSpeculationPays) {
  Advice advice = example();
  advice.batch = {.last = 0, .searched = 64};
  EXPECT_EQ(words_of(advice, "batch"), "speculation pays at no batch");
  advice.batch = {.last = 17, .searched = 64, .is_extrapolated = true};
  EXPECT_EQ(words_of(advice, "batch"),
            "speculation pays up to batch 17 (extrapolated from the recorded rows)");
  advice.batch = {.last = 64, .searched = 64};
  EXPECT_EQ(words_of(advice, "batch"), "speculation pays at every batch up to 64");
}

TEST(AdviceText, NamesTheLargestGapFirst) {
  Advice advice = example();
  EXPECT_THAT(words_of(advice, "limits"),
              HasSubstr("hardware gap +8.00, information gap +0.30, tuning gap +0.10, "
                        "learning gap -0.20 (in speedup"));
  advice.gaps.reset();
  EXPECT_EQ(words_of(advice, "limits"), "not known without shadow tokens");
}

TEST(AdviceText, UsesTheCharactersAskedFor) {
  const Advice advice = example();
  EXPECT_EQ(words_of(advice, "neighbours"), "E-1 -5.6 %, gamma+1 +0.0 %");
  EXPECT_EQ(words_of(advice, "neighbours", Characters::unicode), "E-1 −5.6 %, γ+1 ±0.0 %");
  EXPECT_THAT(words_of(advice, "sure"), HasSubstr("near ties at 4 of 40 positions, 0.78x..1.30x however"));
  EXPECT_THAT(words_of(advice, "sure", Characters::unicode), HasSubstr("0.78×–1.30× however"));
}

TEST(AdviceText, SaysWhereThereIsNothingToSay) {
  const Advice advice;
  EXPECT_EQ(words_of(advice, "runner-up"), "none of another kind");
  EXPECT_EQ(words_of(advice, "break-even"), "none, no draft step is taken");
  EXPECT_EQ(words_of(advice, "neighbours"), "none: it is no early exit");
  EXPECT_EQ(words_of(advice, "record"), "nothing that would tell more");
}

}  // namespace
}  // namespace draftscope::simulator
