// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/id.h>
#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>
#include <unordered_set>

namespace draftscope {
namespace {

using AppleId = Id<struct Apple>;
using PearId = Id<struct Pear>;

TEST(Id, ConvertsToNoNumberAndToNoOtherId) {
  EXPECT_FALSE((std::is_convertible_v<AppleId, std::int64_t>));
  EXPECT_FALSE((std::is_constructible_v<AppleId, PearId>));
  EXPECT_FALSE((std::equality_comparable_with<AppleId, PearId>));
}

TEST(Id, TakesConstantsOfTheSourceByItself) {
  constexpr AppleId id = 7;
  EXPECT_EQ(id.value(), 7);
  EXPECT_TRUE(id == 7);
  EXPECT_TRUE(id != 8);
}

TEST(Id, ComparesHashesAndFormatsAsItsNumber) {
  for (const std::int64_t a : {0, 1, 7})
    for (const std::int64_t b : {0, 1, 7}) {
      const auto first = AppleId::from(a);
      const auto second = AppleId::from(b);
      EXPECT_EQ(first <=> second, a <=> b);
      EXPECT_EQ(first == second, a == b);
      EXPECT_EQ((std::unordered_set<AppleId>{first, second}.size()), a == b ? 1U : 2U);
    }
  EXPECT_EQ(fmt::format("{} {:>3}", AppleId(17), AppleId(5)), "17   5");
}

TEST(Id, IsNoneUnlessANumberIsGiven) {
  EXPECT_TRUE(AppleId().is_none());
  EXPECT_FALSE(AppleId(1).is_none());
  EXPECT_EQ(AppleId::from(3U).value(), 3);
}

}  // namespace
}  // namespace draftscope
