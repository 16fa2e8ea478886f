// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace draftscope {
namespace {

TEST(Number, IsReadFromTheWholeText) {
  EXPECT_EQ(parse_number<std::int32_t>("12"), 12);
  EXPECT_EQ(parse_number<std::int32_t>("-3"), -3);
  EXPECT_EQ(parse_number<std::int32_t>("010"), 10) << "decimal, whatever it begins with";
  EXPECT_EQ(parse_number<double>("0.5"), 0.5);
  EXPECT_EQ(parse_number<double>("1e-3"), 1e-3);
}

TEST(Number, IsNothingElse) {
  for (const std::string text : {"", " ", "1 ", " 1", "+1", "0x10", "1,5", "1k", "one", "--1", "1e5"})
    EXPECT_FALSE(parse_number<std::int64_t>(text)) << text;
  for (const std::string text : {"", "nan", "inf", "-inf", "infinity", "0x1p3", "1e999", "1 ", "1.5.2"})
    EXPECT_FALSE(parse_number<double>(text)) << text;
  EXPECT_FALSE(parse_number<std::int32_t>(std::string("1\0", 2)));
}

template <typename T>
class WholeNumber : public ::testing::Test {};
using WholeNumbers = ::testing::Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(WholeNumber, WholeNumbers);

TYPED_TEST(WholeNumber, FitsItsTypeOrIsNone) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(parse_number<TypeParam>(std::to_string(Limits::max())), Limits::max());
  EXPECT_EQ(parse_number<TypeParam>(std::to_string(Limits::min())), Limits::min());
  EXPECT_FALSE(parse_number<TypeParam>(std::to_string(Limits::max()) + "0"));
  EXPECT_FALSE(parse_number<TypeParam>("-9223372036854775809"));
  EXPECT_EQ(parse_number<TypeParam>("-1").has_value(), Limits::is_signed);
}

}  // namespace
}  // namespace draftscope
