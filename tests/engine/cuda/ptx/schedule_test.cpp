// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks, warps and lanes go on in an order that a seed draws; what a kernel computes does not depend on it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

/// A sum of a block's threads by halves in shared memory.
const std::string block_sum = R"(
  mov.u32 %w2, sums; shl.b32 %w3, %thread, 2; add.u32 %w2, %w2, %w3;
  st.shared.u32 [%w2], %w1; mov.u32 %w4, 128;
  NEXT: bar.sync 0;
  setp.ge.u32 %p2, %thread, %w4; @%p2 bra SKIP;
  shl.b32 %w5, %w4, 2; add.u32 %w5, %w5, %w2; ld.shared.u32 %w6, [%w5]; ld.shared.u32 %w7, [%w2];
  add.u32 %w7, %w7, %w6; st.shared.u32 [%w2], %w7;
  SKIP: shr.u32 %w4, %w4, 1; setp.ne.u32 %p3, %w4, 0; @%p3 bra NEXT;
  bar.sync 0; ld.shared.u32 %w0, [sums];)";

TEST(PtxSchedule, DoesNotChangeASumOverABlock) {
  LaneValues numbers(256);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const auto result = run_lanes(
        {.body = block_sum, .declarations = ".shared .b32 sums[256];", .seed = seed}, {numbers}, 256);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_THAT(*result, testing::Each(256U * 257U / 2U));
  }
}

TEST(PtxSchedule, ShowsThatABarrierIsMissing) {
  std::string broken = block_sum;
  broken.erase(broken.find("NEXT: bar.sync 0;") + 6, 11);
  const auto result =
      run_lanes({.body = broken, .declarations = ".shared .b32 sums[256];"}, {LaneValues(256, 1)}, 256);
  EXPECT_FALSE(result);
}

TEST(PtxSchedule, RunsLoopsOfDifferentLengths) {
  // Collatz: each lane's number of steps to 1.
  const auto steps_of = [](std::uint64_t n) {
    std::uint64_t steps = 0;
    for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
  };
  LaneValues numbers(32);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    const auto result = run_lanes({.body = R"(
      mov.u32 %w0, 0;
      LOOP: setp.eq.u32 %p0, %w1, 1; @%p0 bra DONE;
      and.b32 %w2, %w1, 1; setp.eq.u32 %p2, %w2, 0; add.u32 %w0, %w0, 1;
      @%p2 bra EVEN;
      mad.lo.u32 %w1, %w1, 3, 1; bra LOOP;
      EVEN: shr.u32 %w1, %w1, 1; bra LOOP;
      DONE:)",
                                   .seed = seed},
                                  {numbers});
    ASSERT_TRUE(result) << result.error().message;
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ((*result)[i], steps_of(numbers[i]));
  }
}

TEST(PtxSchedule, LetsLanesMeetWhereverATurnEnds) {
  // Lanes come apart and together again in each of many rounds, and turns end at any place of them.
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    const auto result = run_lanes({.body = R"(
      mov.u32 %w0, 0; mov.u32 %w2, 0;
      ROUND: and.b32 %w3, %w2, 31; setp.lt.u32 %p2, %thread, %w3; @%p2 bra LOW;
      add.u32 %w0, %w0, 1;
      LOW: shfl.sync.bfly.b32 %w4, %w0, 1, 31, 0xffffffff; max.u32 %w0, %w0, %w4;
      add.u32 %w2, %w2, 1; setp.lt.u32 %p3, %w2, 2000; @%p3 bra ROUND;)",
                                   .seed = seed},
                                  {}, 32);
    EXPECT_TRUE(result) << result.error().message;
  }
}

TEST(PtxSchedule, LetsALaneWaitForAnotherOfItsWarp) {
  // Lane 0 waits in a loop that stands before what the others do: whoever is furthest behind does not always
  // go first.
  const auto result = run_lanes({.body = R"(
      setp.ne.u32 %p0, %thread, 0; @%p0 bra OTHERS;
      SPIN: ld.volatile.global.u32 %w2, [%in+8]; setp.lt.u32 %p2, %w2, 31; @%p2 bra SPIN;
      bra END;
      OTHERS: ld.param.u64 %x9, [from]; red.global.add.u32 [%x9+8], 1;
      END: mov.u32 %w0, 1;)"},
                                {LaneValues(32), LaneValues(32)});
  EXPECT_TRUE(result) << result.error().message;
}

TEST(PtxSchedule, StartsBlocksInAnyOrderAndNumbersThem) {
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    Device device({.seed = seed});
    ASSERT_TRUE(device.load("blocks", module_text(R"(
.entry k(.param .u64 at) {
  .reg .b64 %at, %to; .reg .b32 %w<8>; .reg .pred %p;
  mov.u32 %w0, %tid.x; mov.u32 %w5, %tid.y; or.b32 %w0, %w0, %w5; setp.ne.u32 %p, %w0, 0; @%p exit;
  ld.param.u64 %at, [at];
  atom.global.add.u32 %w1, [%at], 1;
  mov.u32 %w2, %ctaid.x; mov.u32 %w3, %ctaid.y; mov.u32 %w4, %nctaid.x; mad.lo.u32 %w2, %w3, %w4, %w2;
  mad.wide.u32 %to, %w1, 4, %at; st.global.u32 [%to+4], %w2;
})")));
    std::byte* const memory = device.allocate("memory", 28).value();
    ASSERT_TRUE(device.clear(memory, 28));
    LaunchRequest request{.entry = "k", .blocks = {3, 2}, .threads = {8, 2}};
    request.parameters = {std::as_bytes(std::span(&memory, 1))};
    const auto ran = device.launch(request);
    ASSERT_TRUE(ran) << ran.error().message;
    std::vector<std::uint32_t> order(7);
    ASSERT_TRUE(device.download(order.data(), memory, 28));
    EXPECT_EQ(order[0], 6U);
    order.erase(order.begin());
    EXPECT_THAT(order, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 1U);
}

TEST(PtxSchedule, RunsThreadsInThreeDimensions) {
  Device device;
  ASSERT_TRUE(device.load("threads", module_text(R"(
.entry k(.param .u64 at) {
  .reg .b64 %at, %to; .reg .b32 %w<8>;
  ld.param.u64 %at, [at];
  mov.u32 %w0, %tid.x; mov.u32 %w1, %tid.y; mov.u32 %w2, %tid.z; mov.u32 %w3, %ntid.x; mov.u32 %w4, %ntid.y;
  mad.lo.u32 %w5, %w2, %w4, %w1; mad.lo.u32 %w5, %w5, %w3, %w0;
  mad.wide.u32 %to, %w5, 4, %at; st.global.u32 [%to], %w5;
})")));
  std::byte* const memory = device.allocate("memory", 60 * 4).value();
  LaunchRequest request{.entry = "k", .threads = {5, 4, 3}};
  request.parameters = {std::as_bytes(std::span(&memory, 1))};
  ASSERT_TRUE(device.launch(request));
  std::vector<std::uint32_t> found(60);
  ASSERT_TRUE(device.download(found.data(), memory, 60 * 4));
  for (std::uint32_t i = 0; i < 60; ++i) EXPECT_EQ(found[i], i);
}

}  // namespace
}  // namespace draftscope::ptx::test
