// SPDX-License-Identifier: GPL-3.0-or-later
// The finite-state and the heuristic schedule, round by round.

#include <gtest/gtest.h>

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
  EXPECT_EQ(after(length, 2, 2), 2);  // cut short by the budget: not what was planned
  EXPECT_EQ(after(length, 2, 1), 1);
  EXPECT_EQ(after(length, 1, 0), 1);  // never shorter
  EXPECT_EQ(after(length, 1, 1), 2);
}

// As published: nothing of nothing accepted is a full accept.
TEST(FiniteStateLength, BouncesFromZero) {
  FiniteStateLength length({.start = 1, .min = 0, .max = 63});
  EXPECT_EQ(after(length, 1, 0), 0);
  EXPECT_EQ(after(length, 0, 0), 1);
  EXPECT_EQ(after(length, 1, 0), 0);
}

TEST(FiniteStateLength, StartsAgainWithEachRequest) {
  FiniteStateLength length({.start = 6});
  EXPECT_EQ(after(length, 6, 6), 7);
  length.begin_request();
  EXPECT_EQ(length.length(), 6);
}

TEST(HeuristicLength, GrowsByTwoAfterAFullAcceptAndShrinksByOneOtherwise) {
  HeuristicLength length({.start = 5});
  EXPECT_EQ(after(length, 5, 5), 7);
  EXPECT_EQ(after(length, 7, 6), 6);
  EXPECT_EQ(after(length, 3, 3), 8);  // all of a draft that was cut short
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

}  // namespace
}  // namespace draftscope::speculation
