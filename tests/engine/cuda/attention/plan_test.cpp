// SPDX-License-Identifier: GPL-3.0-or-later
// How attention is cut into items.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cuda/kernels/attention_plan.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

using cuda::attention_item;
using cuda::AttentionItem;
using cuda::AttentionPlan;
using cuda::plan_attention;

AttentionPlan random_plan(Random& random) {
  const int keys = pick(random, 1, 20'000);
  return plan_attention(pick(random, 1, 64), pick(random, 1, 40), keys,
                        chance(random, 0.4) ? 1 << 30 : pick(random, 0, keys));
}

TEST(AttentionPlan, HasEachQueryInOneItemOfEachSplit) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const AttentionPlan plan = random_plan(random);
    std::map<std::pair<int, int>, int> times;  // How often each split and query occurs.
    for (int i = 0; i < plan.items(); ++i) {
      const AttentionItem item = attention_item(plan, i);
      ASSERT_GT(item.n_queries, 0);
      ASSERT_LE(item.n_queries, plan.item_tiles * cuda::tile_queries);
      for (int split = item.split; split < item.split + item.splits; ++split) {
        ASSERT_EQ(item.is_shared, split < plan.shared_splits);
        for (int query = 0; query < item.n_queries; ++query) ++times[{split, item.first_query + query}];
      }
    }
    ASSERT_EQ(times.size(), static_cast<std::size_t>(plan.splits) * static_cast<std::size_t>(plan.queries));
    ASSERT_TRUE(std::ranges::all_of(times, [](const auto& entry) { return entry.second == 1; }));
  }
}

TEST(AttentionPlan, TakesGroupsOfSplitsWholeWhereQueriesAreManyAndNeverOneThatRowsDoNotShare) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const AttentionPlan plan = random_plan(random);
    ASSERT_LE(plan.whole_groups * cuda::split_group, plan.shared_splits);
  }
  // 16 rows of four query heads get a sum per 1,024 keys and one for the rest, in tiles of 32.
  const AttentionPlan many = plan_attention(16, 4, 8192 + 16, 1 << 30);
  EXPECT_EQ(many.units(), 9);
  EXPECT_EQ(many.item_tiles, 2);
  // One row gets as many items as there are splits.
  const AttentionPlan one = plan_attention(1, 4, 8192, 1 << 30);
  EXPECT_EQ(one.items(), 32);
  EXPECT_EQ(one.whole_groups, 0);
  EXPECT_FALSE(one.is_by_runs);
  EXPECT_EQ(plan_attention(0, 4, 512, 1 << 30).items(), 0);
  // In a short context of few rows, each warp takes a run.
  EXPECT_TRUE(plan_attention(1, 4, 512, 1 << 30).is_by_runs);
  EXPECT_TRUE(plan_attention(16, 4, 1024, 1 << 30).is_by_runs);
  EXPECT_FALSE(plan_attention(17, 4, 1024, 1 << 30).is_by_runs);
  EXPECT_FALSE(plan_attention(1, 4, 1025, 1 << 30).is_by_runs);
}

}  // namespace
}  // namespace draftscope::engine::test
