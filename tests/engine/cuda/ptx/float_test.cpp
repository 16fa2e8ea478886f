// SPDX-License-Identifier: GPL-3.0-or-later
// Floating point against the text of PTX ISA 9.0, Floating-Point Instructions: roundings, subnormal numbers,
// NaNs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "operations/rounding.h"
#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

constexpr float tiny = std::numeric_limits<float>::denorm_min();
constexpr float largest = std::numeric_limits<float>::max();
constexpr std::uint64_t canonical_nan = 0x7fffffff;

std::uint64_t single(std::string instruction, std::vector<float> inputs) {
  std::vector<std::uint64_t> words;
  for (const float input : inputs) words.push_back(bits(input));
  return compute(instruction, "w", words);
}
std::uint64_t twice(std::string instruction, std::vector<double> inputs) {
  std::vector<std::uint64_t> words;
  for (const double input : inputs) words.push_back(bits(input));
  return compute(instruction, "x", words);
}

TEST(PtxFloats, RoundInEachDirection) {
  // 1 + 2^-24 lies half-way between 1 and the next float.
  const float half_step = 0x1p-24F;
  EXPECT_EQ(single("add.rn.f32", {1.0F, half_step}), bits(1.0F));
  EXPECT_EQ(single("add.rz.f32", {1.0F, half_step}), bits(1.0F));
  EXPECT_EQ(single("add.rm.f32", {1.0F, half_step}), bits(1.0F));
  EXPECT_EQ(single("add.rp.f32", {1.0F, half_step}), bits(0x1.000002p0F));
  EXPECT_EQ(single("add.rm.f32", {-1.0F, -half_step}), bits(-0x1.000002p0F));
  EXPECT_EQ(single("add.rz.f32", {-1.0F, -half_step}), bits(-1.0F));
  EXPECT_EQ(single("sub.rz.f32", {1.0F, tiny}), bits(0x1.fffffep-1F));
  EXPECT_EQ(single("div.rn.f32", {1.0F, 3.0F}), bits(0x1.555556p-2F));
  EXPECT_EQ(single("div.rz.f32", {1.0F, 3.0F}), bits(0x1.555554p-2F));
  EXPECT_EQ(single("rcp.rp.f32", {3.0F}), bits(0x1.555556p-2F));
  EXPECT_EQ(single("sqrt.rn.f32", {2.0F}), bits(0x1.6a09e6p0F));
  EXPECT_EQ(single("sqrt.rp.f32", {2.0F}), bits(0x1.6a09e8p0F));
  EXPECT_EQ(single("mul.rz.f32", {largest, 2.0F}), bits(largest));
  EXPECT_EQ(single("mul.rm.f32", {largest, 2.0F}), bits(largest));
  EXPECT_EQ(single("mul.rp.f32", {largest, 2.0F}), bits(inf));
  EXPECT_EQ(single("mul.rp.f32", {tiny, 0.25F}), bits(tiny));
  EXPECT_EQ(single("mul.rn.f32", {tiny, 0.25F}), bits(0.0F));
}

TEST(PtxFloats, GiveMinusZeroWhereTermsCancelRoundedDown) {
  EXPECT_EQ(single("add.rm.f32", {1.0F, -1.0F}), bits(-0.0F));
  EXPECT_EQ(single("add.rz.f32", {1.0F, -1.0F}), bits(0.0F));
  EXPECT_EQ(single("add.f32", {1.0F, -1.0F}), bits(0.0F));
  EXPECT_EQ(single("add.rm.f32", {0.0F, 0.0F}), bits(0.0F));
  EXPECT_EQ(single("add.rp.f32", {-0.0F, -0.0F}), bits(-0.0F));
  EXPECT_EQ(single("fma.rm.f32", {1.0F, 1.0F, -1.0F}), bits(-0.0F));
}

TEST(PtxFloats, FuseWithOneRounding) {
  const float a = 0x1.000002p0F;  // a · a = 1 + 2^-22 + 2^-46
  EXPECT_EQ(single("fma.rn.f32", {a, a, -1.0F}), bits(0x1p-22F));
  EXPECT_EQ(single("fma.rn.f32", {a, a, -0x1.000004p0F}), bits(0x1p-46F));
  EXPECT_EQ(single("fma.rp.f32", {a, a, 0.0F}), bits(0x1.000006p0F));
  EXPECT_EQ(single("fma.rz.f32", {a, a, 0.0F}), bits(0x1.000004p0F));
  EXPECT_EQ(twice("fma.rn.f64", {0x1.0000000000001p0, 0x1.0000000000001p0, -1.0}), bits(0x1p-51));
}

TEST(PtxFloats, KeepSubnormalNumbersUnlessFlushed) {
  EXPECT_EQ(single("add.f32", {tiny, tiny}), bits(2 * tiny));
  EXPECT_EQ(single("add.ftz.f32", {tiny, tiny}), bits(0.0F));
  EXPECT_EQ(single("mul.ftz.f32", {-0x1p-100F, 0x1p-30F}), bits(-0.0F));
  EXPECT_EQ(single("mul.f32", {-0x1p-100F, 0x1p-30F}), bits(-0x1p-130F));
  EXPECT_EQ(single("neg.ftz.f32", {tiny}), bits(-0.0F));
  EXPECT_EQ(single("max.ftz.f32", {tiny, 0.0F}), bits(0.0F));
}

TEST(PtxFloats, SaturateBetweenZeroAndOne) {
  EXPECT_EQ(single("add.sat.f32", {0.75F, 0.5F}), bits(1.0F));
  EXPECT_EQ(single("mul.sat.f32", {-1.0F, 0.5F}), bits(0.0F));
  EXPECT_EQ(single("add.sat.f32", {nan, 1.0F}), bits(0.0F));
  EXPECT_EQ(single("fma.rn.sat.f32", {0.5F, 0.5F, 0.25F}), bits(0.5F));
}

TEST(PtxFloats, GiveOneNaN) {
  for (const float odd : {nan, -nan, std::bit_cast<float>(0x7fa00001U)})
    for (const std::string instruction : {"add.f32", "mul.rz.f32", "div.rn.f32", "min.NaN.f32"})
      EXPECT_EQ(single(instruction, {odd, 1.0F}), canonical_nan) << instruction;
  EXPECT_EQ(single("sub.f32", {inf, inf}), canonical_nan);
  EXPECT_EQ(single("mul.f32", {inf, 0.0F}), canonical_nan);
  EXPECT_EQ(single("div.rn.f32", {0.0F, 0.0F}), canonical_nan);
  EXPECT_EQ(single("sqrt.rn.f32", {-1.0F}), canonical_nan);
  EXPECT_EQ(single("sqrt.rn.f32", {-0.0F}), bits(-0.0F));
  EXPECT_EQ(single("div.rn.f32", {-1.0F, 0.0F}), bits(-inf));
  EXPECT_EQ(twice("add.f64", {static_cast<double>(inf), -static_cast<double>(inf)}), 0xfff8000000000000U);
}

TEST(PtxFloats, TakeTheNumberWhereOneIsNoNumber) {
  EXPECT_EQ(single("min.f32", {nan, 3.0F}), bits(3.0F));
  EXPECT_EQ(single("max.f32", {3.0F, nan}), bits(3.0F));
  EXPECT_EQ(single("max.f32", {nan, nan}), canonical_nan);
  EXPECT_EQ(single("max.NaN.f32", {3.0F, nan}), canonical_nan);
  EXPECT_EQ(single("min.f32", {0.0F, -0.0F}), bits(-0.0F));
  EXPECT_EQ(single("max.f32", {-0.0F, 0.0F}), bits(0.0F));
  EXPECT_EQ(single("max.f32", {-inf, -largest}), bits(-largest));
  EXPECT_EQ(twice("max.f64", {1.0, std::numeric_limits<double>::quiet_NaN()}), bits(1.0));
}

TEST(PtxFloats, ChangeSignsAlone) {
  EXPECT_EQ(single("neg.f32", {0.0F}), bits(-0.0F));
  EXPECT_EQ(single("abs.f32", {-inf}), bits(inf));
  EXPECT_EQ(twice("neg.f64", {1.5}), bits(-1.5));
  EXPECT_EQ(single("copysign.f32", {-1.0F, 3.0F}), bits(-3.0F));
}

/// A result under one of the processor's own rounding modes, computed where the compiler cannot foresee it.
template <typename F>
float under_mode(int mode, F compute_it) {
  const int before = std::fegetround();
  std::fesetround(mode);
  const volatile float result = compute_it();
  std::fesetround(before);
  return result;
}

float drawn_float(std::mt19937& random, bool is_near) {
  const std::uint32_t word = random();
  // Near exponents make sums that lose few bits, far ones make sums that lose all.
  const std::uint32_t near = (word & 0x807fffffU) | (120U + word % 16U) << 23U;
  return std::bit_cast<float>(is_near ? near : word);
}

TEST(PtxFloats, RoundAsTheProcessorDoes) {
  std::mt19937 random(7);
  const std::array<std::pair<Rounding, int>, 3> modes = {
      {{Rounding::zero, FE_TOWARDZERO}, {Rounding::down, FE_DOWNWARD}, {Rounding::up, FE_UPWARD}}};
  for (int i = 0; i < 40'000; ++i) {
    const volatile float a = drawn_float(random, i % 2 == 0);
    const volatile float b = drawn_float(random, i % 2 == 0);
    const volatile float c = drawn_float(random, i % 4 < 2);
    for (const auto& [rounding, mode] : modes) {
      const auto expect_same = [&, name = rounding](float found, float expected, const char* what) {
        if (std::isnan(expected))
          EXPECT_TRUE(std::isnan(found)) << what;
        else
          EXPECT_EQ(bits(found), bits(expected))
              << what << ' ' << a << ' ' << b << ' ' << c << ' ' << static_cast<int>(name);
      };
      const double product = static_cast<double>(a) * b;
      expect_same(rounded_sum(a, b, exact_sum(a, b), rounding), under_mode(mode, [&] { return a + b; }),
                  "sum");
      expect_same(rounded({product, 0.0}, rounding), under_mode(mode, [&] { return a * b; }), "product");
      expect_same(rounded(exact_quotient(a, b), rounding), under_mode(mode, [&] { return a / b; }),
                  "quotient");
      expect_same(
          rounded_sum(product, c, exact_fused(a, b, c), rounding),
          under_mode(
              mode,
              [&] { return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)); }),
          "fused");
      expect_same(rounded(exact_root(a), rounding),
                  under_mode(mode, [&] { return std::sqrt(static_cast<float>(a)); }), "root");
    }
  }
}

TEST(PtxApproximations, KeepWhatPtxDefines) {
  EXPECT_EQ(single("ex2.approx.ftz.f32", {0.0F}), bits(1.0F));
  EXPECT_EQ(single("ex2.approx.ftz.f32", {tiny}), bits(1.0F));
  EXPECT_EQ(single("ex2.approx.f32", {-inf}), bits(0.0F));
  EXPECT_EQ(single("ex2.approx.f32", {inf}), bits(inf));
  EXPECT_EQ(single("ex2.approx.f32", {nan}), canonical_nan);
  EXPECT_EQ(single("ex2.approx.f32", {-149.0F}), bits(tiny));
  EXPECT_EQ(single("ex2.approx.ftz.f32", {-149.0F}), bits(0.0F));
  EXPECT_EQ(single("ex2.approx.f32", {0.5F}), bits(0x1.6a09e6p0F));
  EXPECT_EQ(single("lg2.approx.f32", {0.0F}), bits(-inf));
  EXPECT_EQ(single("lg2.approx.f32", {8.0F}), bits(3.0F));
  EXPECT_EQ(single("lg2.approx.f32", {-1.0F}), canonical_nan);
  EXPECT_EQ(single("lg2.approx.ftz.f32", {tiny}), bits(-inf));
  EXPECT_EQ(single("rcp.approx.f32", {-0.0F}), bits(-inf));
  EXPECT_EQ(single("rcp.approx.ftz.f32", {-inf}), bits(-0.0F));
  EXPECT_EQ(single("rcp.approx.ftz.f32", {tiny}), bits(inf));
  EXPECT_EQ(single("rsqrt.approx.f32", {4.0F}), bits(0.5F));
  EXPECT_EQ(single("rsqrt.approx.f32", {-0.0F}), bits(-inf));
  EXPECT_EQ(single("rsqrt.approx.f32", {inf}), bits(0.0F));
  EXPECT_EQ(single("sqrt.approx.f32", {9.0F}), bits(3.0F));
  EXPECT_EQ(single("div.approx.f32", {1.0F, 0x1p127F}), bits(0.0F));
  EXPECT_EQ(single("div.approx.f32", {inf, 0x1p127F}), canonical_nan);
  EXPECT_EQ(single("div.approx.f32", {1.0F, 4.0F}), bits(0.25F));
  EXPECT_EQ(single("tanh.approx.f32", {inf}), bits(1.0F));
  EXPECT_EQ(twice("rcp.approx.ftz.f64", {4.0}), bits(0.25));
  EXPECT_EQ(twice("rcp.approx.ftz.f64", {3.0}) & 0xffffffffU, 0U);
  EXPECT_NEAR(std::bit_cast<double>(twice("rcp.approx.ftz.f64", {3.0})), 1.0 / 3.0, 0x1p-20);
}

}  // namespace
}  // namespace draftscope::ptx::test
