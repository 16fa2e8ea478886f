// SPDX-License-Identifier: GPL-3.0-or-later
// Logic, shifts, permutations, moves, comparison and selection against the text of PTX ISA 9.0.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

TEST(PtxLogic, IsBitByBit) {
  EXPECT_EQ(compute("and.b32", "w", {0xff00ff00, 0x0ff00ff0}), 0x0f000f00U);
  EXPECT_EQ(compute("or.b64", "x", {0xf0, 0x0f}), 0xffU);
  EXPECT_EQ(compute("xor.b16", "h", {0xffff, 0x00ff}), 0xff00U);
  EXPECT_EQ(compute("not.b32", "w", {0}), 0xffffffffU);
  EXPECT_EQ(compute("cnot.b32", "w", {0}), 1U);
  EXPECT_EQ(compute("cnot.b32", "w", {7}), 0U);
  EXPECT_EQ(compute("xor.pred", "p", {1, 1}), 0U);
  EXPECT_EQ(compute("not.pred", "p", {0}), 1U);
  EXPECT_EQ(compute("and.pred", "p", {1, 0}), 0U);
  EXPECT_EQ(compute("or.pred", "p", {1, 0}), 1U);
}

TEST(PtxLogic, TakesATableOfThreeInputs) {
  const auto lop3 = [](std::string table) {
    return run_one({.body = "lop3.b32 %w0, %w1, %w2, %w3, " + table + ";"},
                   {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa});
  };
  EXPECT_EQ(lop3("0x80"), 0x80808080U);  // a & b & c
  EXPECT_EQ(lop3("0xFE"), 0xfefefefeU);  // a | b | c
  EXPECT_EQ(lop3("0x96"), 0x96969696U);  // a ^ b ^ c
  EXPECT_EQ(lop3("0xE4"), 0xe4e4e4e4U);  // (a & c) | (b & ~c)
}

TEST(PtxShifts, ByTheWidthOrMoreLeaveNothingButTheSign) {
  EXPECT_EQ(compute("shl.b32", "w", {1, 31}), 0x80000000U);
  EXPECT_EQ(compute("shl.b32", "w", {1, 32}), 0U);
  EXPECT_EQ(compute("shl.b32", "w", {1, 0xffffffff}), 0U);
  EXPECT_EQ(compute("shl.b16", "hhw", {1, 15}), 0x8000U);
  EXPECT_EQ(compute("shl.b64", "xxw", {1, 63}), 0x8000000000000000U);
  EXPECT_EQ(compute("shl.b64", "xxw", {1, 64}), 0U);
  EXPECT_EQ(compute("shr.u32", "w", {0x80000000, 32}), 0U);
  EXPECT_EQ(compute("shr.s32", "w", {0x80000000, 32}), 0xffffffffU);
  EXPECT_EQ(compute("shr.s32", "w", {0x40000000, 99}), 0U);
  EXPECT_EQ(compute("shr.s64", "xxw", {0x8000000000000000, 200}), 0xffffffffffffffffU);
  EXPECT_EQ(compute("shr.s16", "hhw", {0x8000, 4}), 0xf800U);
  EXPECT_EQ(compute("shr.b32", "w", {0x80000000, 4}), 0x08000000U);
}

TEST(PtxShifts, RunThroughTwoRegisters) {
  // {b, a} = 0x12345678'9abcdef0
  const std::vector<std::uint64_t> words = {0x9abcdef0, 0x12345678};
  const auto funnel = [&](std::string modifiers, std::uint64_t amount) {
    return compute("shf." + modifiers + ".b32", "w", {words[0], words[1], amount});
  };
  EXPECT_EQ(funnel("l.wrap", 8), 0x3456789aU);
  EXPECT_EQ(funnel("l.wrap", 32), 0x12345678U);  // modulo 32
  EXPECT_EQ(funnel("l.clamp", 32), 0x9abcdef0U);
  EXPECT_EQ(funnel("l.clamp", 99), 0x9abcdef0U);
  EXPECT_EQ(funnel("r.wrap", 8), 0x789abcdeU);
  EXPECT_EQ(funnel("r.wrap", 32), 0x9abcdef0U);
  EXPECT_EQ(funnel("r.clamp", 99), 0x12345678U);
}

TEST(PtxPermutation, PicksBytesAndTheirSigns) {
  // Bytes 0 … 7: 10 91 22 b3, 44 d5 66 f7.
  const std::vector<std::uint64_t> words = {0xb3229110, 0xf766d544};
  const auto prmt = [&](std::string mode, std::uint64_t selector) {
    return compute("prmt.b32" + mode, "w", {words[0], words[1], selector});
  };
  EXPECT_EQ(prmt("", 0x3210), 0xb3229110U);
  EXPECT_EQ(prmt("", 0x7654), 0xf766d544U);
  EXPECT_EQ(prmt("", 0x5140), 0xd5914410U);
  EXPECT_EQ(prmt("", 0xba98), 0xff00ff00U);  // signs of bytes 0 … 3
  EXPECT_EQ(prmt(".f4e", 1), 0x44b32291U);
  EXPECT_EQ(prmt(".b4e", 1), 0x66f71091U);
  EXPECT_EQ(prmt(".rc8", 2), 0x22222222U);
  EXPECT_EQ(prmt(".ecl", 1), 0xb3229191U);
  EXPECT_EQ(prmt(".ecr", 1), 0x91919110U);
  EXPECT_EQ(prmt(".rc16", 1), 0xb322b322U);
}

TEST(PtxMoves, PutRegistersTogetherAndApart) {
  EXPECT_EQ(run_one({.body = "mov.b64 %x0, {%w1, %w2};", .result = "%x0"}, {0x11111111, 0x22222222}),
            0x2222222211111111U);
  EXPECT_EQ(run_one({.body = "mov.b64 {%w9, %w0}, %x1;"}, {0x2222222211111111}), 0x22222222U);
  EXPECT_EQ(run_one({.body = "mov.b64 {_, %w0}, %x1;"}, {0x2222222211111111}), 0x22222222U);
  EXPECT_EQ(run_one({.body = "mov.b32 %w0, {%h1, %h2};"}, {0x1111, 0x2222}), 0x22221111U);
  EXPECT_EQ(run_one({.body = "mov.b32 {%h0, %h9}, %w1;", .result = "%h0"}, {0x22221111}), 0x1111U);
  EXPECT_EQ(run_one({.body = "mov.b64 {%h9, %h0, %h8, %h7}, %x1;", .result = "%h0"}, {0x4444333322221111}),
            0x2222U);
  EXPECT_EQ(run_one({.body = "mov.f32 %w0, 0f3F800000;"}, {}), bits(1.0F));
  EXPECT_EQ(run_one({.body = "mov.f64 %x0, 0d3FF8000000000000;", .result = "%x0"}, {}), bits(1.5));
  EXPECT_EQ(run_one({.body = "{ .reg .b32 %w1; mov.u32 %w1, 9; } mov.u32 %w0, %w1;"}, {5}), 5U);
}

TEST(PtxComparison, KnowsTheSignAndTheNaN) {
  const auto sets = [](std::string name, std::string width, std::uint64_t a, std::uint64_t b) {
    return run_one({.body = "setp." + name + " %p0, %" + width + "1, %" + width + "2;", .result = "%p0"},
                   {a, b}) != 0;
  };
  EXPECT_TRUE(sets("lt.s32", "w", 0xffffffff, 0));
  EXPECT_FALSE(sets("lt.u32", "w", 0xffffffff, 0));
  EXPECT_TRUE(sets("hi.u32", "w", 0xffffffff, 0));
  EXPECT_TRUE(sets("ls.u64", "x", 5, 5));
  EXPECT_TRUE(sets("ge.s16", "h", 1, 0xffff));
  EXPECT_TRUE(sets("eq.b32", "w", 7, 7));
  const auto floats = [&](std::string name, double a, double b) {
    const bool of_double = sets(name + ".f64", "x", bits(a), bits(b));
    const bool of_single = sets(name + ".f32", "w", bits(static_cast<float>(a)), bits(static_cast<float>(b)));
    EXPECT_EQ(of_single, of_double);
    return of_single;
  };
  for (const std::string name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(floats(name, nan, 1.0));
    EXPECT_FALSE(floats(name, 1.0, nan));
    EXPECT_TRUE(floats(name + "u", nan, 1.0));
    EXPECT_TRUE(floats(name + "u", nan, nan));
    EXPECT_EQ(floats(name, 1.0, 2.0), floats(name + "u", 1.0, 2.0));
  }
  EXPECT_TRUE(floats("ne", 1.0, 2.0));
  EXPECT_TRUE(floats("eq", 0.0, -0.0));
  EXPECT_FALSE(floats("lt", -0.0, 0.0));
  EXPECT_TRUE(floats("lt", -inf, -1e30));
  EXPECT_TRUE(floats("num", 1.0, inf));
  EXPECT_TRUE(floats("nan", 1.0, nan));
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_FALSE(sets("eq.f32", "w", bits(tiny), bits(0.0F)));
  EXPECT_TRUE(sets("eq.ftz.f32", "w", bits(tiny), bits(0.0F)));
}

TEST(PtxComparison, CombinesWithAPredicateAndGivesTheOpposite) {
  const auto both = [](std::string how, std::string third, std::uint64_t a, std::uint64_t c) {
    const std::string body = "setp.lt" + how + ".s32 %p0|%p9, %w1, %w2" + third + ";\n";
    const std::uint64_t first = run_one({.body = body, .result = "%p0"}, {a, 5, c});
    const std::uint64_t second = run_one({.body = body, .result = "%p9"}, {a, 5, c});
    return first * 10 + second;
  };
  EXPECT_EQ(both("", "", 3, 0), 10U);
  EXPECT_EQ(both("", "", 7, 0), 1U);
  EXPECT_EQ(both(".and", ", %p3", 3, 0), 0U);
  EXPECT_EQ(both(".and", ", !%p3", 3, 0), 10U);
  EXPECT_EQ(both(".or", ", %p3", 7, 1), 11U);
  EXPECT_EQ(both(".xor", ", %p3", 3, 1), 1U);
}

TEST(PtxSelection, TakesTheFirstWhereThePredicateIsSet) {
  EXPECT_EQ(compute("selp.b32", "wwwp", {1, 2, 1}), 1U);
  EXPECT_EQ(compute("selp.u16", "hhhp", {1, 2, 0}), 2U);
  EXPECT_EQ(compute("selp.f64", "xxxp", {bits(nan), bits(2.0), 0}), bits(2.0));
}

}  // namespace
}  // namespace draftscope::ptx::test
