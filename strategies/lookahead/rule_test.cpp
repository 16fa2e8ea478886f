// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/lookahead/rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "random_text.h"

namespace draftscope::speculation {
namespace {

TEST(NgramPool, KeepsTheMostRecentOfEachToken) {
  Random random(33);
  for (int trial = 0; trial < 100; ++trial) {
    const std::int32_t vocab = pick(random, 1, 9);
    const std::int32_t length = pick(random, 1, 4);
    const std::int32_t capacity = pick(random, 1, 6);
    NgramPool pool(vocab, length, capacity);
    std::map<std::int32_t, std::vector<Tokens>> expected;
    for (int step = 0; step < 300; ++step) {
      if (pick(random, 0, 99) == 0) {
        pool.clear();
        expected.clear();
      }
      const std::int32_t token = pick(random, 0, vocab - 1);
      Tokens continuation(static_cast<std::size_t>(length));
      for (std::int32_t& of_it : continuation) of_it = pick(random, 0, 2);
      pool.add(token, continuation);
      std::vector<Tokens>& list = expected[token];
      list.erase(std::remove(list.begin(), list.end(), continuation), list.end());
      list.push_back(continuation);
      if (static_cast<std::int32_t>(list.size()) > capacity) list.erase(list.begin());

      for (std::int32_t key = 0; key < vocab; ++key) {
        const std::vector<Tokens>& wanted = expected[key];
        ASSERT_EQ(pool.count(key), static_cast<std::int32_t>(wanted.size()));
        for (std::int32_t i = 0; i < pool.count(key); ++i) {
          const auto found = pool.continuation(key, i);
          ASSERT_EQ(Tokens(found.begin(), found.end()), wanted[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
}

TEST(GuessTree, SharesWhatContinuationsHaveInCommon) {
  std::vector<TextGuess> tree;
  for (const Tokens& continuation : {Tokens{1, 2, 3}, Tokens{1, 2, 4}, Tokens{2, 2, 3}, Tokens{1, 2, 3}})
    add_continuation(continuation, tree);
  const std::vector<TextGuess> expected{{1, -1}, {2, 0}, {3, 1}, {4, 1}, {2, -1}, {2, 4}, {3, 5}};
  EXPECT_EQ(tree, expected);
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
