// SPDX-License-Identifier: GPL-3.0-or-later
// What lanes of a warp do together, against the text of PTX ISA 9.0 (shfl.sync, vote.sync, match.sync,
// redux.sync).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

LaneValues lane_numbers() {
  LaneValues numbers(32);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

LaneValues expect_lanes(const SmallKernel& kernel, const std::vector<LaneValues>& inputs = {lane_numbers()}) {
  const Result<LaneValues> result = run_lanes(kernel, inputs);
  if (result) return *result;
  ADD_FAILURE() << kernel.body << ": " << result.error().message;
  return LaneValues(32);
}

/// Each lane's source, by the lane's number as the value that is handed on.
LaneValues sources(const std::string& mode, const std::string& b, const std::string& c) {
  return expect_lanes({.body = "shfl.sync." + mode + ".b32 %w0, %w1, " + b + ", " + c + ", 0xffffffff;"});
}

TEST(PtxShuffle, HandsOnWithinSegments) {
  const LaneValues butterfly = sources("bfly", "5", "31");
  const LaneValues down = sources("down", "4", "31");
  const LaneValues up = sources("up", "4", "0");
  const LaneValues indexed = sources("idx", "7", "31");
  // Segments of eight lanes: the mask of c is 0b11000 << 8.
  const LaneValues down_in_eight = sources("down", "3", "0x1807");
  const LaneValues up_in_eight = sources("up", "3", "0x1800");
  const LaneValues indexed_in_eight = sources("idx", "13", "0x1807");
  const LaneValues butterfly_past_eight = sources("bfly", "8", "0x1807");
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(butterfly[lane], lane ^ 5U);
    EXPECT_EQ(down[lane], lane + 4 <= 31 ? lane + 4 : lane);
    EXPECT_EQ(up[lane], lane >= 4 ? lane - 4 : lane);
    EXPECT_EQ(indexed[lane], 7U);
    EXPECT_EQ(down_in_eight[lane], lane % 8 + 3 <= 7 ? lane + 3 : lane);
    EXPECT_EQ(up_in_eight[lane], lane % 8 >= 3 ? lane - 3 : lane);
    EXPECT_EQ(indexed_in_eight[lane], lane / 8 * 8 + 5);
    EXPECT_EQ(butterfly_past_eight[lane], lane / 8 % 2 == 1 ? lane - 8 : lane);  // not past the segment's end
  }
}

TEST(PtxShuffle, SaysWhetherTheSourceIsWithin) {
  const LaneValues within =
      expect_lanes({.body = "shfl.sync.down.b32 %w0|%p0, %w1, 4, 31, 0xffffffff;", .result = "%p0"});
  for (std::uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(within[lane], lane < 28 ? 1U : 0U);
}

TEST(PtxShuffle, TakesEachLanesOwnSource) {
  LaneValues reversed(32);
  for (std::uint64_t lane = 0; lane < 32; ++lane) reversed[lane] = 31 - lane;
  const LaneValues result =
      expect_lanes({.body = "shfl.sync.idx.b32 %w0, %w1, %w2, 31, 0xffffffff;"}, {lane_numbers(), reversed});
  EXPECT_EQ(result, reversed);
}

TEST(PtxShuffle, MeetsLanesThatCameApart) {
  // Odd and even lanes compute apart and meet behind the branches.
  const LaneValues result = expect_lanes({.body = R"(
    and.b32 %w2, %w1, 1; setp.eq.u32 %p0, %w2, 1;
    @%p0 bra ODD;
    add.u32 %w3, %w1, 100;
    bra.uni MEET;
    ODD: add.u32 %w3, %w1, 200;
    MEET: shfl.sync.bfly.b32 %w0, %w3, 1, 31, 0xffffffff;)"});
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(result[lane], (lane ^ 1U) + (lane % 2 == 1 ? 100 : 200));
}

TEST(PtxShuffle, ServesHalvesOfAWarpApart) {
  const LaneValues result = expect_lanes({.body = R"(
    setp.lt.u32 %p0, %w1, 16; selp.b32 %w2, 0xffff, 0xffff0000, %p0;
    @!%p0 bra UPPER;
    add.u32 %w3, %w1, 100;
    bra.uni MEET;
    UPPER: add.u32 %w3, %w1, 200;
    MEET: shfl.sync.bfly.b32 %w0, %w3, 1, 31, %w2;)"});
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(result[lane], (lane ^ 1U) + (lane < 16 ? 100 : 200));
}

TEST(PtxVotes, AskAllLanes) {
  const auto vote = [](std::string mode, std::uint64_t below) {
    const std::string head = "setp.lt.u64 %p1, %x1, " + std::to_string(below) + "; ";
    const LaneValues result =
        expect_lanes({.body = head + "vote.sync." + mode + ".pred %p0, %p1, 0xffffffff;", .result = "%p0"});
    EXPECT_THAT(result, testing::Each(result[0]));
    return result[0] != 0;
  };
  EXPECT_TRUE(vote("all", 32));
  EXPECT_FALSE(vote("all", 31));
  EXPECT_TRUE(vote("any", 1));
  EXPECT_FALSE(vote("any", 0));
  EXPECT_TRUE(vote("uni", 0));
  EXPECT_TRUE(vote("uni", 32));
  EXPECT_FALSE(vote("uni", 5));
  EXPECT_THAT(expect_lanes({.body = "setp.lt.u64 %p1, %x1, 5; vote.sync.ballot.b32 %w0, %p1, 0xffffffff;"}),
              testing::Each(0x1fU));
  EXPECT_THAT(expect_lanes({.body = "setp.lt.u64 %p1, %x1, 5; vote.sync.ballot.b32 %w0, !%p1, 0xffffffff;"}),
              testing::Each(0xffffffe0U));
}

TEST(PtxMatch, FindsEqualLanes) {
  const LaneValues any =
      expect_lanes({.body = "and.b32 %w2, %w1, 3; match.any.sync.b32 %w0, %w2, 0xffffffff;"});
  for (std::uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(any[lane], 0x11111111U << (lane % 4));
  EXPECT_THAT(expect_lanes({.body = "match.all.sync.b32 %w0|%p0, 7, 0xffffffff;"}),
              testing::Each(0xffffffffU));
  EXPECT_THAT(expect_lanes({.body = "match.all.sync.b64 %w0|%p0, %x1, 0xffffffff;"}), testing::Each(0U));
}

TEST(PtxReduction, TakesAllLanesTogether) {
  const auto reduced = [](std::string name) {
    const LaneValues result =
        expect_lanes({.body = "sub.u32 %w2, %w1, 5; redux.sync." + name + " %w0, %w2, 0xffffffff;"});
    EXPECT_THAT(result, testing::Each(result[0]));
    return result[0];
  };
  EXPECT_EQ(reduced("add.s32"), 496U - 160U);
  EXPECT_EQ(reduced("min.s32"), 0xfffffffbU);
  EXPECT_EQ(reduced("max.s32"), 26U);
  EXPECT_EQ(reduced("min.u32"), 0U);
  EXPECT_EQ(reduced("max.u32"), 0xffffffffU);
  EXPECT_EQ(reduced("and.b32"), 0U);
  EXPECT_EQ(reduced("or.b32"), 0xffffffffU);
}

TEST(PtxLanes, KnowWhoTheyAre) {
  EXPECT_EQ(expect_lanes({.body = "mov.u32 %w0, %laneid;"}), lane_numbers());
  const LaneValues below = expect_lanes({.body = "mov.u32 %w0, %lanemask_lt;"});
  const LaneValues from = expect_lanes({.body = "mov.u32 %w0, %lanemask_ge;"});
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(below[lane], (1U << lane) - 1U);
    EXPECT_EQ(from[lane], 0xffffffffU << lane);
  }
  EXPECT_THAT(expect_lanes({.body = "activemask.b32 %w0;"}), testing::Each(0xffffffffU));
  const LaneValues elected = expect_lanes({.body = "elect.sync %w0|%p0, 0xffffffff;", .result = "%p0"});
  EXPECT_EQ(std::accumulate(elected.begin(), elected.end(), std::uint64_t{0}), elected[0]);
}

/// A matrix by lanes' registers, for m16n8k16: as PTX ISA's figures lay fragments out.
TEST(PtxMatrices, MultiplyAsTheFragmentsSay) {
  // A[row][k] = row + k, B[k][column] = k == column + 3, C = 1: D[row][column] = row + column + 4, in bf16.
  const auto bf16 = [](double value) { return bits(static_cast<float>(value)) >> 16U; };
  std::vector<LaneValues> inputs(5, LaneValues(32));
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t g = lane / 4;
    const std::uint64_t t = lane % 4;
    const auto a = [&](std::uint64_t row, std::uint64_t k) {
      return bf16(static_cast<double>(row + k)) | bf16(static_cast<double>(row + k + 1)) << 16U;
    };
    const auto b = [&](std::uint64_t k) {
      return bf16(k == g + 3 ? 1 : 0) | bf16(k + 1 == g + 3 ? 1 : 0) << 16U;
    };
    inputs[0][lane] = a(g, 2 * t) | a(g + 8, 2 * t) << 32U;
    inputs[1][lane] = a(g, 2 * t + 8) | a(g + 8, 2 * t + 8) << 32U;
    inputs[2][lane] = b(2 * t) | b(2 * t + 8) << 32U;
  }
  const std::string body = R"(
    mov.b64 {%w1, %w2}, %x1; mov.b64 {%w3, %w4}, %x2; mov.b64 {%w5, %w6}, %x3; mov.f32 %w7, 0f3F800000;
    mov.b32 %w8, %w7;
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%w8, %w9, %w0, %w7}, {%w1, %w2, %w3, %w4}, {%w5, %w6}, {%w7, %w8, 0f3F800000, %w7};
  )";
  const char* const names[4] = {"%w8", "%w9", "%w0", "%w7"};
  for (std::uint64_t i = 0; i < 4; ++i) {
    const LaneValues d = expect_lanes({.body = body, .result = names[i]}, inputs);
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t row = lane / 4 + i / 2 * 8;
      const std::uint64_t column = lane % 4 * 2 + i % 2;
      EXPECT_EQ(d[lane], bits(static_cast<float>(row + column + 4)));
    }
  }
}

TEST(PtxMatrices, AreReadRowByRowAndTransposed) {
  // 8 × 8 values at shared memory: value = 16 · row + column, rows 16 bytes apart.
  const std::string fill = R"(
    mov.u32 %w2, tile; shl.b32 %w3, %w1, 2; add.u32 %w4, %w2, %w3;
    shr.u32 %w5, %w1, 2; shl.b32 %w5, %w5, 4; and.b32 %w6, %w1, 3; shl.b32 %w6, %w6, 1; add.u32 %w5, %w5, %w6;
    add.u32 %w6, %w5, 1; shl.b32 %w6, %w6, 16; or.b32 %w5, %w5, %w6;
    st.shared.b32 [%w4], %w5; bar.warp.sync 0xffffffff;
    and.b32 %w7, %w1, 7; shl.b32 %w7, %w7, 4; add.u32 %w7, %w2, %w7;
  )";
  const std::string tile = ".shared .align 16 .b8 tile[128];";
  const LaneValues plain = expect_lanes(
      {.body = fill + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%w0}, [%w7];", .declarations = tile});
  const LaneValues transposed = expect_lanes(
      {.body = fill + "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%w0}, [%w7];", .declarations = tile});
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t row = lane / 4;
    const std::uint64_t column = lane % 4 * 2;
    EXPECT_EQ(plain[lane], (16 * row + column) | (16 * row + column + 1) << 16U);
    EXPECT_EQ(transposed[lane], (16 * column + row) | (16 * (column + 1) + row) << 16U);
  }
}

}  // namespace
}  // namespace draftscope::ptx::test
