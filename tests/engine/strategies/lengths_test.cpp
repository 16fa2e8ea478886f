// SPDX-License-Identifier: GPL-3.0-or-later
// The finite-state and the heuristic schedule, round by round.

#include "strategies/lengths.h"

#include <gtest/gtest.h>

namespace draftscope::engine {
namespace {

/// A round that drafted `drafted` of the planned tokens, as a chain, and had `accepted` of them accepted.
class Round {
 public:
  Round(std::int32_t drafted, std::int32_t accepted)
      : steps_(static_cast<std::size_t>(drafted)),
        nodes_(static_cast<std::size_t>(drafted)),
        accepted_(static_cast<std::size_t>(accepted)) {}
  RoundOutcome outcome() const { return {.steps = steps_, .nodes = nodes_, .accepted_nodes = accepted_}; }

 private:
  std::vector<DraftStep> steps_;
  std::vector<DraftNode> nodes_;
  std::vector<std::int32_t> accepted_;
};

template <typename Length>
std::int32_t after(Length& length, std::int32_t drafted, std::int32_t accepted) {
  length.observe({}, Round(drafted, accepted).outcome(), nullptr);
  return length.length({});
}

TEST(FiniteStateLength, GrowsByOneAfterAFullAcceptAndShrinksByOneOtherwise) {
  FiniteStateLength length({.start = 3, .least = 1, .most = 5});
  EXPECT_EQ(length.length({}), 3);
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
  FiniteStateLength length({.start = 1, .least = 0, .most = 63});
  EXPECT_EQ(after(length, 1, 0), 0);
  EXPECT_EQ(after(length, 0, 0), 1);
  EXPECT_EQ(after(length, 1, 0), 0);
}

TEST(FiniteStateLength, StartsAgainWithEachRequest) {
  FiniteStateLength length({.start = 6});
  EXPECT_EQ(after(length, 6, 6), 7);
  length.begin_request({});
  EXPECT_EQ(length.length({}), 6);
}

TEST(HeuristicLength, GrowsByTwoAfterAFullAcceptAndShrinksByOneOtherwise) {
  HeuristicLength length(5, false);
  EXPECT_EQ(after(length, 5, 5), 7);
  EXPECT_EQ(after(length, 7, 6), 6);
  EXPECT_EQ(after(length, 3, 3), 8);  // all of a draft that was cut short
  for (std::int32_t expected = 7; expected >= 1; --expected) EXPECT_EQ(after(length, 4, 1), expected);
  EXPECT_EQ(after(length, 1, 0), 1);
  EXPECT_EQ(after(length, 1, 1), 3);
  for (int i = 0; i < 40; ++i) after(length, 3, 3);
  EXPECT_EQ(length.length({}), 63);
}

TEST(HeuristicLength, IsKeptFromRequestToRequestUnlessTransient) {
  for (const bool transient : {false, true}) {
    HeuristicLength length(5, transient);
    EXPECT_EQ(after(length, 5, 5), 7);
    length.begin_request({});
    EXPECT_EQ(length.length({}), transient ? 5 : 7);
  }
}

}  // namespace
}  // namespace draftscope::engine
