// SPDX-License-Identifier: GPL-3.0-or-later
// Floats of 16 and 8 bits, and conversions of all kinds, against the text of PTX ISA 9.0 (cvt, Half Precision
// Instructions).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "operations/narrow_floats.h"
#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

TEST(PtxNarrowFloats, ComeBackAsTheyWere) {
  const auto comes_back = [](const NarrowFormat& format, std::uint32_t count) {
    for (std::uint32_t code = 0; code < count; ++code) {
      const double value = widened(code, format);
      if (std::isnan(value))
        EXPECT_EQ(narrowed(value, format), format.nan);
      else
        EXPECT_EQ(narrowed(value, format), code);
    }
  };
  comes_back(f16_format, 1U << 16U);
  comes_back(bf16_format, 1U << 16U);
  comes_back(e4m3_format, 256);
  comes_back(e5m2_format, 256);
}

TEST(PtxNarrowFloats, AreTheNearestOfTheirNeighbours) {
  std::mt19937 random(3);
  for (const NarrowFormat& format : {f16_format, bf16_format, e4m3_format, e5m2_format}) {
    const std::uint32_t sign = 1U << (format.exponent_bits + format.mantissa_bits);
    for (int i = 0; i < 4000; ++i) {
      const std::uint32_t code = random() % (sign - 2);
      const double low = widened(code, format);
      const double high = widened(code + 1, format);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      EXPECT_EQ(narrowed(middle, format), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(narrowed(std::nextafter(middle, high), format), code + 1);
      EXPECT_EQ(narrowed(std::nextafter(middle, low), format), code);
      EXPECT_EQ(narrowed(-std::nextafter(middle, low), format), code | sign);
      EXPECT_EQ(narrowed(std::nextafter(high, low), format, Rounding::zero), code);
    }
  }
}

TEST(PtxNarrowFloats, AreConvertedQuicklyAsSlowly) {
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    EXPECT_EQ(float_to_bf16(value), narrowed(static_cast<double>(value), bf16_format));
  }
}

std::uint64_t converted(std::string types, std::string widths, std::uint64_t input) {
  return compute("cvt." + types, widths, {input});
}

TEST(PtxConversions, BetweenFloatsRound) {
  EXPECT_EQ(converted("rn.f16.f32", "hw", bits(1.0F)), 0x3c00U);
  EXPECT_EQ(converted("rn.f16.f32", "hw", bits(65519.0F)), 0x7bffU);
  EXPECT_EQ(converted("rn.f16.f32", "hw", bits(65520.0F)), 0x7c00U);
  EXPECT_EQ(converted("rz.f16.f32", "hw", bits(65520.0F)), 0x7bffU);
  EXPECT_EQ(converted("rn.f16.f32", "hw", bits(0x1p-25F)), 0U);
  EXPECT_EQ(converted("rn.f16.f32", "hw", bits(-0x1.8p-25F)), 0x8001U);
  EXPECT_EQ(converted("rn.f16.f32", "hw", bits(nan)), 0x7fffU);
  EXPECT_EQ(converted("rn.bf16.f32", "hw", bits(0x1.01p0F)), 0x3f80U);  // half-way, to even
  EXPECT_EQ(converted("rn.bf16.f32", "hw", bits(0x1.03p0F)), 0x3f82U);
  EXPECT_EQ(converted("rn.bf16.f32", "hw", bits(-inf)), 0xff80U);
  EXPECT_EQ(converted("rn.bf16.f32", "hw", bits(nan)), 0x7fffU);
  EXPECT_EQ(converted("rz.bf16.f32", "hw", bits(0x1.03p0F)), 0x3f81U);
  EXPECT_EQ(converted("f32.f16", "wh", 0x0001), bits(0x1p-24F));
  EXPECT_EQ(converted("f32.f16", "wh", 0xfc00), bits(-inf));
  EXPECT_EQ(converted("f32.bf16", "wh", 0x3fc0), bits(1.5F));
  EXPECT_EQ(converted("f64.f32", "xw", bits(0x1p-149F)), bits(0x1p-149));
  EXPECT_EQ(converted("rn.f32.f64", "wx", bits(1.0 + 0x1p-24)), bits(1.0F));
  EXPECT_EQ(converted("rp.f32.f64", "wx", bits(1.0 + 0x1p-52)), bits(0x1.000002p0F));
  EXPECT_EQ(converted("rm.f32.f64", "wx", bits(-1.0 - 0x1p-52)), bits(-0x1.000002p0F));
  EXPECT_EQ(converted("rz.f32.f64", "wx", bits(1e300)), bits(std::numeric_limits<float>::max()));
}

TEST(PtxConversions, PutTwoFloatsInOneRegister) {
  const auto pair = [](std::string types, std::string width, float a, float b) {
    return compute("cvt." + types, width + "ww", {bits(a), bits(b)});
  };
  EXPECT_EQ(pair("rn.bf16x2.f32", "w", 1.0F, 2.0F), 0x3f804000U);
  EXPECT_EQ(pair("rn.f16x2.f32", "w", 1.0F, -2.0F), 0x3c00c000U);
  EXPECT_EQ(pair("rn.satfinite.e4m3x2.f32", "h", 1.0F, 448.0F), 0x387eU);
  EXPECT_EQ(pair("rn.satfinite.e4m3x2.f32", "h", -1e9F, inf), 0xfe7eU);
  EXPECT_EQ(pair("rn.satfinite.e4m3x2.f32", "h", nan, 0x1p-9F), 0x7f01U);
  EXPECT_EQ(pair("rn.satfinite.e4m3x2.f32", "h", 0x1p-10F, 0x1.8p-10F), 0x0001U);  // half-way, to even
  EXPECT_EQ(pair("rn.satfinite.e5m2x2.f32", "h", 1.0F, 1e9F), 0x3c7bU);
  EXPECT_EQ(converted("rn.f16x2.e4m3x2", "wh", 0x387e), 0x3c005f00U);
  EXPECT_EQ(converted("rn.f16x2.e4m3x2", "wh", 0x7f01), 0x7fff1800U);
  EXPECT_EQ(converted("rn.f16x2.e5m2x2", "wh", 0x3c7c), 0x3c007c00U);
}

TEST(PtxConversions, ToIntegersStayInRange) {
  EXPECT_EQ(converted("rzi.s32.f32", "w", bits(-2.75F)), 0xfffffffeU);
  EXPECT_EQ(converted("rni.s32.f32", "w", bits(2.5F)), 2U);
  EXPECT_EQ(converted("rni.s32.f32", "w", bits(3.5F)), 4U);
  EXPECT_EQ(converted("rmi.s32.f32", "w", bits(-2.25F)), 0xfffffffdU);
  EXPECT_EQ(converted("rpi.s32.f32", "w", bits(2.25F)), 3U);
  EXPECT_EQ(converted("rzi.s32.f32", "w", bits(3e9F)), 0x7fffffffU);
  EXPECT_EQ(converted("rzi.s32.f32", "w", bits(-inf)), 0x80000000U);
  EXPECT_EQ(converted("rzi.s32.f32", "w", bits(nan)), 0U);
  EXPECT_EQ(converted("rzi.u32.f32", "w", bits(-1.0F)), 0U);
  EXPECT_EQ(converted("rzi.u32.f32", "w", bits(5e9F)), 0xffffffffU);
  EXPECT_EQ(converted("rzi.s64.f32", "xw", bits(nan)), 0x8000000000000000U);
  EXPECT_EQ(converted("rzi.s32.f64", "wx", bits(std::numeric_limits<double>::quiet_NaN())), 0x80000000U);
  EXPECT_EQ(converted("rzi.u64.f64", "xx", bits(1.8446744073709552e19)), 0xffffffffffffffffU);
  EXPECT_EQ(converted("rzi.u8.f32", "hw", bits(300.0F)), 255U);
  EXPECT_EQ(converted("rzi.s8.f32", "hw", bits(-300.0F)), 0xff80U);  // extended by its sign
  EXPECT_EQ(converted("rpi.f64.f64", "xx", bits(-0.5)), bits(-0.0));
  EXPECT_EQ(converted("rni.f32.f32", "w", bits(0.5F)), bits(0.0F));
}

TEST(PtxConversions, FromIntegersRound) {
  EXPECT_EQ(converted("rn.f32.s32", "w", 0xffffffff), bits(-1.0F));
  EXPECT_EQ(converted("rn.f32.u32", "w", 0xffffffff), bits(0x1p32F));
  EXPECT_EQ(converted("rz.f32.u32", "w", 0xffffffff), bits(0x1.fffffep31F));
  EXPECT_EQ(converted("rp.f32.s32", "w", 0x01000001), bits(0x1.000002p24F));
  EXPECT_EQ(converted("rm.f32.u64", "wx", 0xffffffffffffffff), bits(0x1.fffffep63F));
  EXPECT_EQ(converted("rn.f64.u64", "xx", 0xffffffffffffffff), bits(0x1p64));
  EXPECT_EQ(converted("rn.f64.s32", "xw", 0x80000000), bits(-0x1p31));
  EXPECT_EQ(converted("rn.f32.u8", "wh", 0x1ff), bits(255.0F));
}

TEST(PtxConversions, BetweenIntegersCutAndExtend) {
  EXPECT_EQ(converted("s64.s32", "xw", 0x80000000), 0xffffffff80000000U);
  EXPECT_EQ(converted("u64.u32", "xw", 0x80000000), 0x80000000U);
  EXPECT_EQ(converted("u32.u64", "wx", 0x123456789), 0x23456789U);
  EXPECT_EQ(converted("s32.s16", "wh", 0x8000), 0xffff8000U);
  EXPECT_EQ(converted("u32.u16", "wh", 0x8000), 0x8000U);
  EXPECT_EQ(converted("s32.s8", "w", 0x1ff), 0xffffffffU);
  EXPECT_EQ(converted("u16.u8", "hw", 0x1ff), 0xffU);
}

TEST(PtxConversions, SaturateAndFlush) {
  EXPECT_EQ(converted("sat.f32.f32", "w", bits(1.5F)), bits(1.0F));
  EXPECT_EQ(converted("sat.f32.f32", "w", bits(nan)), bits(0.0F));
  EXPECT_EQ(converted("sat.f32.f32", "w", bits(-0.0F)), bits(0.0F));
  EXPECT_EQ(converted("ftz.f32.f32", "w", bits(-0x1p-140F)), bits(-0.0F));
  EXPECT_EQ(converted("rzi.ftz.s32.f32", "w", bits(0x1p-140F)), 0U);
}

TEST(PtxHalves, RoundOnce) {
  // f16: 2048 + 1 is half-way between 2048 and 2050.
  EXPECT_EQ(compute("add.f16", "h", {0x6800, 0x3c00}), 0x6800U);
  EXPECT_EQ(compute("add.rn.f16x2", "w", {0x68003c00, 0x42003c00}), 0x68024000U);  // 2048 + 3, 1 + 1
  EXPECT_EQ(compute("mul.rn.bf16x2", "w", {0x3f804000, 0x7b807b80}), 0x7b807c00U);
  EXPECT_EQ(compute("mul.bf16", "h", {0x0001, 0x3f00}), 0U);  // the least, halved: half-way, to even
  EXPECT_EQ(compute("mul.bf16", "h", {0x0003, 0x3f00}), 0x0002U);
  EXPECT_EQ(compute("mul.f16", "h", {0x7bff, 0x4000}), 0x7c00U);
  EXPECT_EQ(compute("sub.f16", "h", {0x7c00, 0x7c00}), 0x7fffU);
  EXPECT_EQ(compute("add.bf16", "h", {0x8000, 0x8000}), 0x8000U);
  // 1.0078125² − 1 = 2^-6 + 2^-14: rounded once, 2^-6 · (1 + 2^-8) goes to 2^-6.
  EXPECT_EQ(compute("fma.rn.bf16", "h", {0x3f81, 0x3f81, 0xbf80}), 0x3c80U);
  EXPECT_EQ(compute("fma.rn.bf16x2", "w", {0x3f803f80, 0x40004040, 0x80008000}), 0x40004040U);
  // A sum whose bits lie far apart: the small term decides which way half-way goes.
  EXPECT_EQ(compute("fma.rn.bf16", "h", {0x3f80, 0x0080, 0x4381}), 0x4381U);
  EXPECT_EQ(compute("fma.rn.f16", "h", {0x3c01, 0x3c01, 0x0001}), 0x3c02U);
  EXPECT_EQ(compute("neg.bf16x2", "w", {0x3f80bf80}), 0xbf803f80U);
  EXPECT_EQ(compute("abs.f16", "h", {0xbc00}), 0x3c00U);
}

TEST(PtxHalves, TakeTheErrorIntoAccount) {
  // 1 + 2^-8 is half-way between two bf16; a little more goes up, a little less down.
  const Exact above{1.0 + 0x1p-8, 0x1p-60};
  const Exact below{1.0 + 0x1p-8, -0x1p-60};
  EXPECT_EQ(narrowed(rounded_to_odd(above), bf16_format), 0x3f81U);
  EXPECT_EQ(narrowed(rounded_to_odd(below), bf16_format), 0x3f80U);
  EXPECT_EQ(narrowed(rounded_to_odd({1.0 + 0x1p-8, 0.0}), bf16_format), 0x3f80U);
  EXPECT_EQ(narrowed(rounded_to_odd({-1.0 - 0x1p-8, -0x1p-60}), bf16_format), 0xbf81U);
}

}  // namespace
}  // namespace draftscope::ptx::test
