// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/lookahead/rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace draftscope::speculation {
namespace {

TEST(NgramPool, IsEmptyOnceCleared) {
  NgramPool pool(9, 1, 2);
  pool.add(3, std::vector<std::int32_t>{5});
  ASSERT_EQ(pool.count(3), 1);
  pool.clear();
  EXPECT_EQ(pool.count(3), 0);
}

TEST(LevelSizes, AreOneLongerEachRoundUntilTheWindowIsFull) {
  for (std::int32_t columns = 1; columns < 9; ++columns)
    for (std::int32_t ngram = 3; ngram < 8; ++ngram) {
      LevelSizes sizes(columns, ngram);
      std::int32_t rounds = 0;
      for (; !sizes.full(); ++rounds) sizes.add_level();
      EXPECT_EQ(rounds, ngram - 2);
      EXPECT_EQ(sizes.rows(), (ngram - 1) * columns - 1) << "W columns of N − 1 levels without the root";
    }
}

}  // namespace
}  // namespace draftscope::speculation
