// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/number_text.h>

#include <gtest/gtest.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace draftscope {
namespace {

constexpr Characters ascii = Characters::ascii;
constexpr Characters unicode = Characters::unicode;

TEST(NumberText, HasThreeSignificantDigitsAndAllBeforeThePoint) {
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(0.03124), "0.0312");
  EXPECT_EQ(number_text(0.03125), "0.0312");
  EXPECT_EQ(number_text(1.5), "1.50");
  EXPECT_EQ(number_text(-2.0), "-2.00");
  EXPECT_EQ(number_text(4.214), "4.21");
  EXPECT_EQ(number_text(1234.5), "1234");
  EXPECT_EQ(number_text(-61.82), "-61.8");
  EXPECT_EQ(number_text(1234.6), "1235");
  EXPECT_EQ(number_text(12'345'678.0), "12345678");
  EXPECT_EQ(number_text(1.234e-9), "1.23e-09");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "-");
}

TEST(NumberText, RoundsBeforeItCountsDigits) {
  EXPECT_EQ(number_text(9.996), "10.0");
  EXPECT_EQ(number_text(99.96), "100");
  EXPECT_EQ(number_text(0.09996), "0.100");
}

TEST(NumberText, IsWithinHalfAStepOfItsThirdDigit) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> power(-6.0, 9.0);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::pow(10.0, power(random));
    const double step = std::pow(10.0, std::floor(std::log10(value)) - 2.0);
    EXPECT_LE(std::abs(std::stod(number_text(value)) - value), 0.5001 * step) << value;
  }
}

TEST(NumberText, OfNothingHasNoSide) {
  EXPECT_EQ(signed_text(0.123, 2, ascii), "+0.12");
  EXPECT_EQ(signed_text(-1.3, 2, ascii), "-1.30");
  EXPECT_EQ(signed_text(-1.3, 2, unicode), "−1.30");
  for (const double nothing : {0.0, -0.0, 0.004, -0.004}) {
    EXPECT_EQ(signed_text(nothing, 2, ascii), "+0.00") << nothing;
    EXPECT_EQ(signed_text(nothing, 2, unicode), "±0.00") << nothing;
  }
}

TEST(NumberText, SaysSpeedupsSharesAndRanges) {
  EXPECT_EQ(speedup_text(1.517, ascii), "1.52x");
  EXPECT_EQ(speedup_text(1.517, unicode), "1.52×");
  EXPECT_EQ(speedups_text(1.3, 0.78, ascii), "0.78x..1.30x");
  EXPECT_EQ(range_text(1.21, 1.43, ascii), "1.21..1.43");
  EXPECT_EQ(range_text(1.21, 1.43, unicode), "1.21–1.43");
  EXPECT_EQ(percent_text(0.714), "71.4 %");
  EXPECT_EQ(percent_text(0.714, 0), "71 %");
  EXPECT_EQ(ratio_text(0.0, ascii), "0");
  EXPECT_EQ(ratio_text(0.0002, ascii), "< 0.001");
  EXPECT_EQ(ratio_text(-0.0002, ascii), "> -0.001");
  EXPECT_EQ(ratio_text(-0.0002, unicode), "> −0.001");
  EXPECT_EQ(ratio_text(0.0000275, ascii), "< 0.001");
  EXPECT_EQ(ratio_text(-0.0000275, ascii), "> -0.001");
  EXPECT_EQ(ratio_text(0.0312, ascii), number_text(0.0312));
  EXPECT_EQ(p_value_text(0.0312), "0.031");
  EXPECT_EQ(p_value_text(0.0003), "< 0.001");
}

TEST(NumberText, GroupsDigitsByThree) {
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(count_text(12'345), "12 345");
  EXPECT_EQ(count_text(-1'234'567), "-1 234 567");
}

TEST(NumberText, ChoosesTheUnit) {
  EXPECT_EQ(duration_text(0.0, ascii), "0 ns");
  EXPECT_EQ(duration_text(5.0, ascii), "5 ns");
  EXPECT_EQ(duration_text(831.0, ascii), "831 ns");
  EXPECT_EQ(duration_text(4214.0, ascii), "4.21 us");
  EXPECT_EQ(duration_text(4214.0, unicode), "4.21 µs");
  EXPECT_EQ(duration_text(999'400.0, ascii), "999 us");
  EXPECT_EQ(duration_text(999'600.0, ascii), "1.00 ms") << "never 1000 of a unit";
  EXPECT_EQ(duration_text(-61.8e6, ascii), "-61.8 ms");
  EXPECT_EQ(duration_text(1.25e9, ascii), "1.25 s");
  EXPECT_EQ(duration_text(1.25e12, ascii), "1250 s");
  EXPECT_EQ(bytes_text(831.0), "831 bytes");
  EXPECT_EQ(bytes_text(1536.0), "1.50 KiB");
  EXPECT_EQ(bytes_text(61.8 * 1024 * 1024), "61.8 MiB");
  EXPECT_EQ(bytes_text(1.25 * 1024 * 1024 * 1024), "1.25 GiB");
}

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
