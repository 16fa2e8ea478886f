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

TEST(Id, IsMadeOfANumberOnlyWhereThatIsSaid) {
  EXPECT_TRUE((std::is_constructible_v<AppleId, std::int64_t>));
  EXPECT_FALSE((std::is_convertible_v<std::int64_t, AppleId>));
  EXPECT_FALSE((std::is_convertible_v<AppleId, std::int64_t>));
}

TEST(Id, IsNotTakenForOneOfAnotherKind) {
  EXPECT_FALSE((std::is_constructible_v<AppleId, PearId>));
  EXPECT_FALSE((std::equality_comparable_with<AppleId, PearId>));
  EXPECT_FALSE((std::equality_comparable_with<AppleId, std::int64_t>));
}

TEST(Id, ComparesHashesAndFormatsAsItsNumber) {
  for (const std::int64_t a : {0, 1, 7})
    for (const std::int64_t b : {0, 1, 7}) {
      EXPECT_EQ(AppleId(a) <=> AppleId(b), a <=> b);
      EXPECT_EQ(AppleId(a) == AppleId(b), a == b);
      EXPECT_EQ((std::unordered_set<AppleId>{AppleId(a), AppleId(b)}.size()), a == b ? 1U : 2U);
    }
  EXPECT_EQ(fmt::format("{} {:>3}", AppleId(17), AppleId(5)), "17   5");
}

TEST(Id, IsNoneUnlessANumberIsGiven) {
  EXPECT_TRUE(AppleId().is_none());
  EXPECT_FALSE(AppleId(1).is_none());
  EXPECT_EQ(AppleId(3).value(), 3);
}

}  // namespace
}  // namespace draftscope
