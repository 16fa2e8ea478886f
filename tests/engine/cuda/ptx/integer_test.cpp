// SPDX-License-Identifier: GPL-3.0-or-later
// Integer arithmetic against the text of PTX ISA 9.0, Integer Arithmetic Instructions. Expected values are
// worked by hand.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

struct IntegerCase {
  std::string instruction;
  std::string widths;  ///< "w": all of 32 bits; else one an operand, destination first
  std::vector<std::uint64_t> inputs;
  std::uint64_t expected;
};

void expect_all(const std::vector<IntegerCase>& cases) {
  for (const IntegerCase& each : cases) {
    SCOPED_TRACE(testing::Message() << each.instruction << testing::PrintToString(each.inputs));
    EXPECT_EQ(compute(each.instruction, each.widths, each.inputs), each.expected);
  }
}

TEST(PtxIntegers, SumsWrapAround) {
  expect_all({{"add.s32", "w", {0x7fffffff, 1}, 0x80000000},
              {"add.u32", "w", {0xffffffff, 2}, 1},
              {"add.u16", "h", {0xffff, 1}, 0},
              {"add.s64", "x", {0x7fffffffffffffff, 1}, 0x8000000000000000},
              {"sub.s32", "w", {0x80000000, 1}, 0x7fffffff},
              {"sub.u64", "x", {0, 1}, 0xffffffffffffffff},
              {"neg.s32", "w", {0x80000000}, 0x80000000},
              {"abs.s32", "w", {0x80000000}, 0x80000000},
              {"abs.s64", "x", {0xffffffffffffffff}, 1},
              {"neg.s16", "h", {1}, 0xffff}});
}

TEST(PtxIntegers, SaturateWhereTheyAreTold) {
  expect_all({{"add.sat.s32", "w", {0x7fffffff, 1}, 0x7fffffff},
              {"add.sat.s32", "w", {0x80000000, 0xffffffff}, 0x80000000},
              {"sub.sat.s32", "w", {0x80000000, 1}, 0x80000000},
              {"sub.sat.s32", "w", {5, 7}, 0xfffffffe}});
}

TEST(PtxIntegers, ProductsHaveALowAHighAndAWidePart) {
  expect_all({{"mul.lo.s32", "w", {0x10000, 0x10000}, 0},
              {"mul.hi.s32", "w", {0x80000000, 2}, 0xffffffff},
              {"mul.hi.u32", "w", {0x80000000, 2}, 1},
              {"mul.hi.s64", "x", {0x8000000000000000, 2}, 0xffffffffffffffff},
              {"mul.hi.u64", "x", {0xffffffffffffffff, 0xffffffffffffffff}, 0xfffffffffffffffe},
              {"mul.hi.u16", "h", {0xffff, 0xffff}, 0xfffe},
              {"mul.lo.u16", "h", {0xffff, 0xffff}, 1},
              {"mul.wide.s32", "xww", {0xffffffff, 2}, 0xfffffffffffffffe},
              {"mul.wide.u32", "xww", {0xffffffff, 2}, 0x1fffffffe},
              {"mul.wide.s16", "whh", {0xffff, 3}, 0xfffffffd},
              {"mad.lo.s32", "w", {3, 5, 7}, 22},
              {"mad.hi.u32", "w", {0x80000000, 4, 1}, 3},
              {"mad.wide.s32", "xwwx", {0xffffffff, 3, 1}, 0xfffffffffffffffe},
              {"mad.wide.u16", "whhw", {0xffff, 0xffff, 2}, 0xfffe0003}});
}

TEST(PtxIntegers, QuotientsGoTowardsZero) {
  expect_all({{"div.s32", "w", {0xfffffff9, 2}, 0xfffffffd},  // -7 / 2 = -3
              {"rem.s32", "w", {0xfffffff9, 2}, 0xffffffff},  // -7 - 2 * -3 = -1
              {"rem.s32", "w", {7, 0xfffffffe}, 1},
              {"div.u32", "w", {0xfffffff9, 2}, 0x7ffffffc},
              {"div.s32", "w", {0x80000000, 0xffffffff}, 0x80000000},
              {"rem.s32", "w", {0x80000000, 0xffffffff}, 0},
              {"div.s64", "x", {0xfffffffffffffff7, 4}, 0xfffffffffffffffe},
              {"div.u16", "h", {0xffff, 16}, 0xfff}});
}

TEST(PtxIntegers, ExtremesKnowTheSign) {
  expect_all({{"min.s32", "w", {0xffffffff, 1}, 0xffffffff},
              {"min.u32", "w", {0xffffffff, 1}, 1},
              {"max.s32", "w", {0xffffffff, 1}, 1},
              {"max.u64", "x", {0xffffffffffffffff, 1}, 0xffffffffffffffff},
              {"max.s16", "h", {0x8000, 0x7fff}, 0x7fff}});
}

TEST(PtxIntegers, FieldsEndWithTheRegister) {
  expect_all({{"bfe.u32", "w", {0x12345678, 8, 8}, 0x56},
              {"bfe.s32", "w", {0x0000ff00, 8, 8}, 0xffffffff},
              {"bfe.s32", "w", {0x80000000, 24, 16}, 0xffffff80},  // past the end: the register's sign
              {"bfe.u32", "w", {0x80000000, 24, 16}, 0x80},
              {"bfe.u32", "w", {0xffffffff, 4, 0}, 0},
              {"bfe.s32", "w", {0xffffffff, 40, 8}, 0xffffffff},
              {"bfe.u32", "w", {0xffffffff, 40, 8}, 0},
              {"bfe.u32", "w", {0x12345678, 0x108, 0x108}, 0x56},  // modulo 256
              {"bfe.u64", "xxww", {0x123456789abcdef0, 32, 16}, 0x5678},
              {"bfi.b32", "w", {0xab, 0x11111111, 8, 8}, 0x1111ab11},
              {"bfi.b32", "w", {0xab, 0x11111111, 28, 8}, 0xb1111111},
              {"bfi.b32", "w", {0xab, 0x11111111, 32, 8}, 0x11111111},
              {"bfi.b32", "w", {0xab, 0x11111111, 8, 0}, 0x11111111},
              {"bfi.b64", "xxxww", {0xffffffff, 0x1122334455667788, 32, 32}, 0xffffffff55667788}});
}

TEST(PtxIntegers, CountBits) {
  expect_all({{"popc.b32", "w", {0xf0f0f0f0}, 16},
              {"popc.b64", "wx", {0xffffffffffffffff}, 64},
              {"clz.b32", "w", {0}, 32},
              {"clz.b32", "w", {0x00010000}, 15},
              {"clz.b64", "wx", {1}, 63},
              {"brev.b32", "w", {1}, 0x80000000},
              {"brev.b64", "x", {2}, 0x4000000000000000},
              {"bfind.u32", "w", {0x00010000}, 16},
              {"bfind.u32", "w", {0}, 0xffffffff},
              {"bfind.s32", "w", {0xffffffff}, 0xffffffff},
              {"bfind.s32", "w", {0xfffffffe}, 0},
              {"bfind.s64", "wx", {0x4000000000000000}, 62}});
}

TEST(PtxIntegers, CarryFromOneInstructionToTheNext) {
  const auto sum_of_two_words = [](std::uint64_t a, std::uint64_t b, std::string operation) {
    const std::string carried = operation + ".cc.u32 %w0, %w1, %w3;\n" + operation + "c.u32 %w9, %w2, %w4;\n";
    return run_one({.body = carried + "mov.b64 %x0, {%w0, %w9};", .result = "%x0"},
                   {a & 0xffffffffU, a >> 32U, b & 0xffffffffU, b >> 32U});
  };
  EXPECT_EQ(sum_of_two_words(0xffffffff, 1, "add"), 0x100000000U);
  EXPECT_EQ(sum_of_two_words(0xfffffffe, 1, "add"), 0xffffffffU);
  EXPECT_EQ(sum_of_two_words(0xffffffffffffffff, 0xffffffffffffffff, "add"), 0xfffffffffffffffeU);
  EXPECT_EQ(sum_of_two_words(0x100000000, 1, "sub"), 0xffffffffU);
  EXPECT_EQ(sum_of_two_words(0, 1, "sub"), 0xffffffffffffffffU);
  // A carry comes out of a sum of all ones and a carry.
  EXPECT_EQ(run_one({.body = "add.cc.u32 %w0, %w1, %w2; addc.cc.u32 %w0, %w1, 0; addc.u32 %w0, 0, 0;"},
                    {0xffffffff, 1}),
            1U);
}

TEST(PtxIntegers, TakeNumbersAndAddressesAsOperands) {
  EXPECT_EQ(run_one({.body = "add.s32 %w0, %w1, -5;"}, {3}), 0xfffffffeU);
  EXPECT_EQ(run_one({.body = "add.s32 %w0, %w1, 0x10;"}, {3}), 19U);
  EXPECT_EQ(run_one({.body = "and.b16 %h0, %h1, -2;", .result = "%h0"}, {0xffff}), 0xfffeU);
}

}  // namespace
}  // namespace draftscope::ptx::test
