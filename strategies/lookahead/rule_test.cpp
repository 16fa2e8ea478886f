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

}  // namespace
}  // namespace draftscope::speculation
