// SPDX-License-Identifier: GPL-3.0-or-later
// Tests how rounds share the pixels of an axis.
#include <gtest/gtest.h>

#include <random>

#include "views/rounds/round_axis.h"

namespace draftscope::gui {
namespace {

TEST(RoundColumns, HoldEachRoundAndEachPixelOnce) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    RoundAxis axis{.first = random() % 1000, .left = static_cast<int>(random() % 100)};
    axis.width = 1 + static_cast<int>(random() % 300);
    axis.last = axis.first + 1 + random() % (trial % 2 == 0 ? 40 : 100'000);
    const int min_width = 1 + static_cast<int>(random() % 3);
    const std::size_t grain = trial % 3 == 0 ? 64 : 1;
    const std::vector<RoundColumn> columns = round_columns(axis, min_width, grain);
    ASSERT_FALSE(columns.empty());
    EXPECT_EQ(columns.front().first, axis.first);
    EXPECT_EQ(columns.front().left, axis.left);
    EXPECT_EQ(columns.back().last, axis.last);
    EXPECT_EQ(columns.back().right, axis.left + axis.width);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_GT(columns[i].count(), 0U);
      EXPECT_GT(columns[i].width(), 0);
      if (i == 0) continue;
      EXPECT_EQ(columns[i].first, columns[i - 1].last);
      EXPECT_EQ(columns[i].left, columns[i - 1].right);
    }
  }
}

TEST(RoundColumns, StandWhereTheAxisHasTheirRounds) {
  for (const std::size_t rounds : {3U, 50U, 777U, 20'000U}) {
    const RoundAxis axis{.first = 17, .last = 17 + rounds, .left = 64, .width = 500};
    for (const RoundColumn& column : round_columns(axis)) {
      EXPECT_NEAR(axis.x(static_cast<double>(column.first)), column.left, 1.0);
      if (rounds < 500) {
        EXPECT_EQ(column.count(), 1U);
      }
    }
  }
}

TEST(RoundColumns, OfNoRoundsAreNone) {
  EXPECT_TRUE(round_columns(RoundAxis{.left = 10, .width = 100}).empty());
}

}  // namespace
}  // namespace draftscope::gui
