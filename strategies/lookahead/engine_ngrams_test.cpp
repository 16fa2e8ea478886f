// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "followed.h"
#include "strategies/lookahead/engine_ngrams.h"

namespace draftscope::engine {
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
      const Tokens continuation = random_text(random, length, 3);
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
  std::vector<Proposal> tree;
  for (const Tokens& continuation : {Tokens{1, 2, 3}, Tokens{1, 2, 4}, Tokens{2, 2, 3}, Tokens{1, 2, 3}})
    add_continuation(continuation, tree);
  const std::vector<Proposal> expected{{1, -1}, {2, 0}, {3, 1}, {4, 1}, {2, -1}, {2, 4}, {3, 5}};
  ASSERT_EQ(tree.size(), expected.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    EXPECT_EQ(tree[i].token, expected[i].token);
    EXPECT_EQ(tree[i].parent, expected[i].parent);
  }
}

}  // namespace
}  // namespace draftscope::engine
