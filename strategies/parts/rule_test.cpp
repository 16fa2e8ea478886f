// SPDX-License-Identifier: GPL-3.0-or-later
// The schedules of lengths and the thresholds, round by round. tests/engine/strategies/thresholds_test.cpp
// tests how the engine uses thresholds.

#include <gtest/gtest.h>
#include <vector>

#include "strategies/parts/rule.h"

namespace draftscope::speculation {
namespace {

template <typename Length>
std::int32_t after(Length& length, std::int32_t drafted, std::int32_t accepted) {
  const std::int32_t next =
      length.next({.planned = length.length(), .drafted = drafted, .accepted = accepted});
  EXPECT_EQ(next, length.length());
  return next;
}

TEST(FiniteStateLength, GrowsByOneAfterAFullAcceptAndShrinksByOneOtherwise) {
  FiniteStateLength length({.start = 3, .min = 1, .max = 5});
  EXPECT_EQ(length.length(), 3);
  EXPECT_EQ(after(length, 3, 3), 4);
  EXPECT_EQ(after(length, 4, 4), 5);
  EXPECT_EQ(after(length, 5, 5), 5);  // never longer
  EXPECT_EQ(after(length, 5, 4), 4);
  EXPECT_EQ(after(length, 4, 0), 3);
  EXPECT_EQ(after(length, 2, 2), 2);  // cut short by the budget: fewer than planned
  EXPECT_EQ(after(length, 2, 1), 1);
  EXPECT_EQ(after(length, 1, 0), 1);  // never shorter
  EXPECT_EQ(after(length, 1, 1), 2);
}

// As published, accepting nothing of nothing is a full accept.
TEST(FiniteStateLength, BouncesFromZero) {
  FiniteStateLength length({.start = 1, .min = 0, .max = 63});
  EXPECT_EQ(after(length, 1, 0), 0);
  EXPECT_EQ(after(length, 0, 0), 1);
  EXPECT_EQ(after(length, 1, 0), 0);
}

TEST(HeuristicLength, GrowsByTwoAfterAFullAcceptAndShrinksByOneOtherwise) {
  HeuristicLength length({.start = 5});
  EXPECT_EQ(after(length, 5, 5), 7);
  EXPECT_EQ(after(length, 7, 6), 6);
  EXPECT_EQ(after(length, 3, 3), 8);  // the whole of a draft that was cut short
  for (std::int32_t expected = 7; expected >= 1; --expected) EXPECT_EQ(after(length, 4, 1), expected);
  EXPECT_EQ(after(length, 1, 0), 1);
  EXPECT_EQ(after(length, 1, 1), 3);
  for (int i = 0; i < 40; ++i) after(length, 3, 3);
  EXPECT_EQ(length.length(), 63);
}

TEST(HeuristicLength, IsKeptFromRequestToRequestUnlessTransient) {
  for (const bool transient : {false, true}) {
    HeuristicLength length({.start = 5, .is_transient = transient});
    EXPECT_EQ(after(length, 5, 5), 7);
    length.begin_request();
    EXPECT_EQ(length.length(), transient ? 5 : 7);
  }
}

TEST(LengthRule, IsTheRuleThatItHolds) {
  LengthRule fixed = FixedLength(4);
  EXPECT_EQ(after(fixed, 4, 4), 4);
  LengthRule grows = FiniteStateLength({.start = 4});
  EXPECT_EQ(after(grows, 4, 4), 5);
  EXPECT_TRUE(grows.starts_again());
  grows.begin_request();
  EXPECT_EQ(grows.length(), 4);
  const LengthRule kept = HeuristicLength({.start = 4});
  EXPECT_FALSE(kept.starts_again());
}

double observed(AdaptiveThreshold& threshold, std::int32_t drafted, std::int32_t accepted) {
  return threshold.next({.planned = 12, .drafted = drafted, .accepted = accepted});
}

TEST(AdaptiveThreshold, ForgetsWithTheRequestIfToldSo) {
  for (const bool carries : {true, false}) {
    AdaptiveThreshold threshold({.rule = AdaptiveThreshold::Rule::paper, .carries = carries});
    const double moved = observed(threshold, 10, 0);
    EXPECT_NE(moved, 0.6);
    threshold.begin_request();
    EXPECT_EQ(threshold.threshold(), carries ? moved : 0.6);
  }
}

TEST(AdaptiveThreshold, LearnsNothingFromARoundWithoutADraft) {
  AdaptiveThreshold threshold({});
  EXPECT_EQ(observed(threshold, 0, 0), 0.6);
}

double told(RocThreshold& threshold, std::int32_t accepted, const std::vector<double>& confidences) {
  return threshold.next({.planned = 20,
                         .drafted = static_cast<std::int32_t>(confidences.size()),
                         .accepted = accepted,
                         .confidences = confidences});
}

// The costs were computed by hand, as scikit-learn's roc_curve defines them: FPR + 3·FNR.
TEST(RocThreshold, IsWhereRightAndWrongPartBest) {
  RocThreshold threshold(0.4);
  // Correct: 0.9, 0.8, 0.5; wrong: 0.7. Tokens after a wrong one do not count.
  EXPECT_EQ(told(threshold, 2, {0.9, 0.8, 0.7, 0.1}), 0.4);
  EXPECT_EQ(threshold.right(), 2U);
  EXPECT_EQ(threshold.wrong(), 1U);
  EXPECT_EQ(told(threshold, 1, {0.5}), 0.4);
  EXPECT_EQ(told(threshold, 0, {0.3}), 0.4);  // five are too few
  // 0.9 … 0.5 are correct except 0.7, then 0.3 and 0.2 are wrong: at 0.5, FPR = 1/3 and FNR = 0; at 0.8, 0
  // and 1/3.
  EXPECT_EQ(told(threshold, 0, {0.2}), 0.5);
  // Two more correct tokens at 0.25: 3·2/5 missed tokens cost more than the second wrong one.
  EXPECT_EQ(told(threshold, 2, {0.25, 0.25}), 0.25);
  threshold.begin_request();
  EXPECT_EQ(threshold.threshold(), 0.4);
  EXPECT_EQ(threshold.right(), 0U);
}

TEST(RocThreshold, StaysWhileAllAreRightOrAllWrong) {
  RocThreshold right(0.4);
  EXPECT_EQ(told(right, 8, {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2}), 0.4);
  RocThreshold wrong(0.4);
  for (int round = 0; round < 8; ++round) EXPECT_EQ(told(wrong, 0, {0.9}), 0.4);
}

}  // namespace
}  // namespace draftscope::speculation
