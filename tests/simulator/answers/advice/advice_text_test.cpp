// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/advice_text.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace draftscope::simulator {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(AdviceText, SaysAmongWhatItChose) {
  Advice advice = example();
  advice.machine = "L4";
  const std::string choice = ": set layerskip:exit=4,gamma=3";
  advice.besides = {"del"};
  EXPECT_EQ(advice_headline(advice), "On L4" + choice) << "everything has what was added";
  advice.among = Considered::recorded_runs;
  EXPECT_EQ(advice_headline(advice), "On L4, of recorded runs and del" + choice);
  advice.besides = {"del", "auto"};
  EXPECT_EQ(advice_headline(advice), "On L4, of recorded runs, del and auto" + choice);
  advice.besides = {"a", "b", "c", "d"};
  EXPECT_EQ(advice_headline(advice), "On L4, of recorded runs and 4 other strategies" + choice);
  advice.besides.clear();
  EXPECT_EQ(advice_headline(advice), "On L4, of recorded runs alone" + choice);
  advice.among = Considered::early_exits;
  EXPECT_EQ(advice_headline(advice), "On L4, of early exits alone" + choice);
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

TEST(AdviceText, NamesTheBestOfEachCategoryIfThereAreSeveral) {
  Advice advice = example();
  advice.by_category = {{"coding", "del", 1.5}, {"prose", "vanilla", 1.0}};
  EXPECT_EQ(words_of(advice, "by category"),
            "coding: del 1.50x; prose: vanilla 1.00x (chosen and judged on the same prompts)");
}

TEST(AdviceText, NamesTheLargestGapFirst) {
  const Advice advice = example();
  EXPECT_THAT(words_of(advice, "limits"),
              HasSubstr("hardware gap +8.00, information gap +0.30, tuning gap +0.10, "
                        "learning gap -0.20 (in speedup"));
}

TEST(AdviceText, UsesTheCharactersAskedFor) {
  const Advice advice = example();
  EXPECT_EQ(words_of(advice, "neighbours"), "E-1 -5.6 %, gamma+1 +0.0 %");
  EXPECT_EQ(words_of(advice, "neighbours", Characters::unicode), "E-1 −5.6 %, γ+1 ±0.0 %");
  EXPECT_THAT(words_of(advice, "sure"), HasSubstr("near ties at 4 of 40 positions, 0.78x..1.30x however"));
  EXPECT_THAT(words_of(advice, "sure", Characters::unicode), HasSubstr("0.78×–1.30× however"));
}

/// Change of the example, and the words that a line then has.
struct Variant {
  std::string_view about;
  void (*change)(Advice&);
  std::string_view said;
};

constexpr Variant variants[]{
    {"gain", [](Advice& of) { of.interval_95.reset(); }, "no interval"},
    {"gain",
     [](Advice& of) {
       of.held_out = {.folds = 5, .speedup = {.value = 1.2, .interval_95 = Interval{1.1, 1.3}}};
     },
     "; chosen on some prompts and judged on others 1.20x, 95 % 1.10..1.30"},
    {"gain",
     [](Advice& of) {
       of.measured = MeasuredBeside{.run = {.speedup = 1.05, .interval_95 = Interval{1.0, 1.1}}};
     },
     "; measured in this recording 1.05x, 95 % 1.00..1.10"},
    {"gain", [](Advice& of) { of.measured = MeasuredBeside{.run = {.speedup = 1.05}, .differs = true}; },
     ", which the prediction misses"},
    {"sure", [](Advice& of) { of.near_ties->at_risk = 7; }, "near ties at 7 of 40 positions"},
    {"runner-up",
     [](Advice& of) {
       of.runner_up = RunnerUp{"auto", 1.1, {.value = 1.167}};
     },
     "auto: 1.10x; it takes 1.167 times as long (no interval)"},
    {"break-even",
     [](Advice& of) {
       of.break_even = BreakEven{.mean_accepted_length = 1.6, .acceptance_rate = 0.5, .alpha = 0.7};
     },
     "; iid alpha 0.700"},
    {"neighbours", [](Advice& of) { of.neighbours.clear(); }, "none: it is no early exit"},
    {"batch", [](Advice& of) { of.batch.is_extrapolated = true; }, "(extrapolated from the recorded rows)"},
    {"context", [](Advice& of) { of.context = {.more_rows = 72, .strategy = "vanilla", .gain = 0.02}; },
     "from 72 rows more on vanilla is faster, by 2.0 %"},
    {"context",
     [](Advice& of) {
       of.context = {.more_rows = 72, .strategy = "vanilla", .gain = 0.02, .is_extrapolated = true};
     },
     "(extrapolated)"},
    {"limits", [](Advice& of) { of.gaps.reset(); }, "not known without shadow tokens"},
    {"record",
     [](Advice& of) {
       of.to_record = {"one thing", "another"};
     },
     "one thing; another"}};

TEST(AdviceText, SaysEachThingOfAnAdviceThatHasItAndOfNoOther) {
  std::set<std::string_view> abouts;
  for (const Variant& variant : variants) {
    Advice advice = example();
    EXPECT_THAT(words_of(advice, variant.about), Not(HasSubstr(std::string(variant.said))));
    variant.change(advice);
    EXPECT_THAT(words_of(advice, variant.about), HasSubstr(std::string(variant.said)));
    abouts.insert(variant.about);
  }
  for (const AdviceLine& line : advice_lines(example(), Characters::ascii))
    EXPECT_TRUE(abouts.contains(line.about)) << line.about;
}

TEST(AdviceText, SaysWhereThereIsNothingToSay) {
  const Advice advice;
  EXPECT_EQ(words_of(advice, "runner-up"), "none of another kind that is faster than vanilla decoding");
  EXPECT_EQ(words_of(advice, "break-even"), "none, no draft step is taken");
  EXPECT_EQ(words_of(advice, "record"), "nothing that would tell more");
}

}  // namespace
}  // namespace draftscope::simulator
