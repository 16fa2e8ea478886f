// SPDX-License-Identifier: GPL-3.0-or-later
// Loads, stores, atomics and asynchronous copies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

const std::string buffer = ".shared .align 16 .b8 buffer[1024]; .local .align 16 .b8 own[64];";

std::uint64_t run_with_buffer(const std::string& body, const std::vector<std::uint64_t>& inputs,
                              std::string result = "%w0") {
  return run_one({.body = body, .result = std::move(result), .declarations = buffer}, inputs);
}

TEST(PtxMemory, HoldsWhatWasStored) {
  EXPECT_EQ(run_with_buffer("st.shared.u32 [buffer+4], %w1; ld.shared.u32 %w0, [buffer+4];", {77}), 77U);
  EXPECT_EQ(run_with_buffer("mov.u32 %w2, buffer; st.shared.b64 [%w2+8], %x1; ld.shared.u32 %w0, [%w2+12];",
                            {0x500000001}),
            5U);
  EXPECT_EQ(run_with_buffer("st.local.u16 [own+2], %h1; ld.local.u16 %h0, [own+2];", {0x12345}, "%h0"),
            0x2345U);
  EXPECT_EQ(run_with_buffer("st.shared.v2.b32 [buffer], {%w1, 9}; ld.shared.b64 %x0, [buffer];", {8}, "%x0"),
            0x900000008U);
  EXPECT_EQ(run_with_buffer("st.shared.b64 [buffer], %x1; ld.shared.v4.u16 {%h0, _, %h2, %h3}, [buffer];",
                            {0x4444333322221111}, "%h0"),
            0x1111U);
}

TEST(PtxMemory, WidensWhatItReads) {
  const std::string store = "st.shared.b32 [buffer], %w1; ";
  EXPECT_EQ(run_with_buffer(store + "ld.shared.s8 %w0, [buffer];", {0x80}), 0xffffff80U);
  EXPECT_EQ(run_with_buffer(store + "ld.shared.u8 %w0, [buffer];", {0x80}), 0x80U);
  EXPECT_EQ(run_with_buffer(store + "ld.shared.s32 %x0, [buffer];", {0x80000000}, "%x0"),
            0xffffffff80000000U);
  EXPECT_EQ(run_with_buffer(store + "ld.shared.s16 %w0, [buffer+2];", {0x80010000}), 0xffff8001U);
}

TEST(PtxMemory, IsReachedByGenericAddresses) {
  EXPECT_EQ(
      run_with_buffer(
          "mov.u64 %x2, buffer; cvta.shared.u64 %x3, %x2; st.u32 [%x3], %w1; ld.shared.u32 %w0, [buffer];",
          {7}),
      7U);
  EXPECT_EQ(
      run_with_buffer(
          "mov.u64 %x2, own; cvta.local.u64 %x3, %x2; st.u32 [%x3+8], %w1; ld.local.u32 %w0, [own+8];", {7}),
      7U);
  EXPECT_EQ(
      run_with_buffer("mov.u64 %x2, buffer; cvta.shared.u64 %x3, %x2; isspacep.shared %p0, %x3;", {}, "%p0"),
      1U);
  EXPECT_EQ(run_with_buffer("isspacep.shared %p0, %in;", {}, "%p0"), 0U);
  EXPECT_EQ(
      run_with_buffer(
          "mov.u64 %x2, own; cvta.local.u64 %x3, %x2; cvta.to.local.u64 %x4, %x3; sub.u64 %x0, %x4, %x2;", {},
          "%x0"),
      0U);
}

TEST(PtxMemory, HoldsVariablesWithTheirFirstValues) {
  Device device;
  ASSERT_TRUE(device.load("variables", module_text(R"(
.global .align 8 .u32 numbers[3] = {1, 0x20, 3};
.const .f64 factor = 0d4000000000000000;
.global .b8 zeros[4];
.entry read(.param .u64 to) {
  .reg .b64 %to, %x; .reg .b32 %w<3>; .reg .f64 %f;
  ld.param.u64 %to, [to];
  ld.global.u32 %w0, [numbers+4]; st.global.u32 [%to], %w0;
  mov.u64 %x, zeros; ld.global.u32 %w1, [%x]; st.global.u32 [%to+4], %w1;
  ld.const.f64 %f, [factor]; st.global.f64 [%to+8], %f;
})")));
  const Result<std::byte*> to = device.allocate("to", 16);
  ASSERT_TRUE(to);
  LaunchRequest request{.entry = "read"};
  request.parameters = {std::as_bytes(std::span(&*to, 1))};
  const auto ran = device.launch(request);
  ASSERT_TRUE(ran) << ran.error().message;
  std::uint64_t found[2];
  ASSERT_TRUE(device.download(found, *to, sizeof found));
  EXPECT_EQ(found[0], 0x20U);
  EXPECT_EQ(found[1], bits(2.0));
}

std::uint64_t after_atomic(const std::string& operation, const std::string& operands, std::uint64_t first,
                           std::uint64_t second, bool returned = false) {
  return run_with_buffer("st.shared.b64 [buffer], %x1; atom.shared." + operation + " %x0, [buffer], " +
                             operands + ";" + (returned ? "" : "ld.shared.b64 %x0, [buffer];"),
                         {first, second}, "%x0");
}

TEST(PtxAtomics, ChangeMemoryAndReturnWhatWasThere) {
  EXPECT_EQ(after_atomic("add.u64", "%x2", 5, 7), 12U);
  EXPECT_EQ(after_atomic("add.u64", "%x2", 5, 7, true), 5U);
  EXPECT_EQ(after_atomic("min.s64", "%x2", 5, 0xffffffffffffffff), 0xffffffffffffffffU);
  EXPECT_EQ(after_atomic("max.u64", "%x2", 5, 0xffffffffffffffff), 0xffffffffffffffffU);
  EXPECT_EQ(after_atomic("xor.b64", "%x2", 0xff, 0x0f), 0xf0U);
  EXPECT_EQ(after_atomic("exch.b64", "%x2", 1, 2), 2U);
  EXPECT_EQ(after_atomic("cas.b64", "%x2, 9", 7, 7), 9U);
  EXPECT_EQ(after_atomic("cas.b64", "%x2, 9", 7, 8), 7U);
  const auto wrapping = [](std::string operation, std::uint64_t first, std::uint64_t limit) {
    return run_with_buffer("st.shared.b32 [buffer], %w1; red.shared." + operation +
                               ".u32 [buffer], %w2; ld.shared.u32 %w0, [buffer];",
                           {first, limit});
  };
  EXPECT_EQ(wrapping("inc", 3, 5), 4U);
  EXPECT_EQ(wrapping("inc", 5, 5), 0U);
  EXPECT_EQ(wrapping("dec", 0, 5), 5U);
  EXPECT_EQ(wrapping("dec", 9, 5), 5U);
  EXPECT_EQ(wrapping("dec", 3, 5), 2U);
  EXPECT_EQ(run_with_buffer("st.shared.b32 [buffer], %w1; red.relaxed.cta.shared.add.f32 [buffer], %w2; "
                            "ld.shared.b32 %w0, [buffer];",
                            {bits(1.5F), bits(2.0F)}),
            bits(3.5F));
}

TEST(PtxAtomics, CountEveryLaneOnce) {
  const Result<LaneValues> tickets = run_lanes({.body = R"(
      setp.ne.u32 %p0, %thread, 0; @%p0 bra WAIT;
      st.shared.u32 [buffer], 0;
      WAIT: bar.sync 0;
      atom.shared.add.u32 %w0, [buffer], 1;)",
                                                .declarations = buffer},
                                               {}, 96);
  ASSERT_TRUE(tickets) << tickets.error().message;
  LaneValues sorted = *tickets;
  std::sort(sorted.begin(), sorted.end());
  LaneValues expected(96);
  std::iota(expected.begin(), expected.end(), std::uint64_t{0});
  EXPECT_EQ(sorted, expected);
}

TEST(PtxCopies, ArriveAtTheirWaitAndFillUpWithZeros) {
  const std::string copy =
      "mov.u32 %w2, buffer; cp.async.cg.shared.global [%w2], [%in], 16; cp.async.commit_group;\n";
  EXPECT_EQ(run_with_buffer(copy + "cp.async.wait_group 0; ld.shared.u32 %w0, [buffer];", {41}), 41U);
  EXPECT_EQ(run_with_buffer(copy + "cp.async.wait_all; ld.shared.u32 %w0, [buffer+8];", {41, 42}), 42U);
  const auto cut = [](int size, std::string at) {
    return run_with_buffer("cp.async.ca.shared.global [buffer], [%in], 16, " + std::to_string(size) +
                               "; cp.async.wait_all; ld.shared.u32 %w0, [buffer+" + at + "];",
                           {0x1111111111111111, 0x2222222222222222});
  };
  EXPECT_EQ(cut(8, "4"), 0x11111111U);
  EXPECT_EQ(cut(8, "8"), 0U);
  EXPECT_EQ(cut(9, "8"), 0x22U);
  EXPECT_EQ(cut(0, "0"), 0U);
}

TEST(PtxCopies, WaitForTheOldestGroupsFirst) {
  const std::string copies = R"(
    cp.async.ca.shared.global [buffer], [%in], 8; cp.async.commit_group;
    cp.async.ca.shared.global [buffer+8], [%in+8], 8; cp.async.commit_group;
    cp.async.wait_group 1;)";
  EXPECT_EQ(run_with_buffer(copies + "ld.shared.u32 %w0, [buffer];", {5, 6}), 5U);
  const Result<LaneValues> early =
      run_lanes({.body = copies + "ld.shared.u32 %w0, [buffer+8];", .declarations = buffer}, {{5}, {6}}, 1);
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message,
              testing::HasSubstr("reads 4 bytes at 8 of shared memory, which a cp.async"));
}

/// A ring as a kernel that streams keeps it: each lane reads what it brought itself, without a barrier.
TEST(PtxCopies, MakeARingOfEachLanesOwn) {
  const std::string ring = R"(
    mov.u32 %w5, buffer; mad.lo.u32 %w5, %thread, 8, %w5;
    cp.async.ca.shared.global [%w5], [%in], 8; cp.async.commit_group;
    cp.async.ca.shared.global.L2::128B [%w5+256], [%in+8], 8; cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.u32 %w0, [%w5];
    cp.async.ca.shared.global [%w5], [%in+16], 8; cp.async.commit_group;
    cp.async.wait_group 1; ld.shared.u32 %w6, [%w5+256]; add.u32 %w0, %w0, %w6;
    cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %w6, [%w5]; add.u32 %w0, %w0, %w6;)";
  LaneValues ones(32), tens(32), hundreds(32), sums(32);
  for (std::size_t i = 0; i < 32; ++i) {
    ones[i] = i;
    tens[i] = 10 * i;
    hundreds[i] = 100 * i;
    sums[i] = 111 * i;
  }
  const auto ran =
      run_lanes({.body = ring, .declarations = ".shared .align 16 .b8 buffer[512];"}, {ones, tens, hundreds});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_EQ(*ran, sums);
}

}  // namespace
}  // namespace draftscope::ptx::test
