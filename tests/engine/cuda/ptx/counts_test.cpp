// SPDX-License-Identifier: GPL-3.0-or-later
// What a launch did, counted, on kernels whose counts are known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "small_kernel.h"

namespace draftscope::ptx::test {
namespace {

/// Counts of a kernel of 64 threads over 16 KiB of memory, of which the first `named` are of kind 1; %lane is
/// the thread's number.
LaunchCounts counts_of(const std::string& body, std::size_t named = 0) {
  Device device;
  EXPECT_TRUE(device.load(
      "counted",
      module_text(".extern .shared .align 16 .b8 shared[];\n"
                  ".entry k(.param .u64 at) { .reg .b64 %at, %x<9>; .reg .b32 %lane, %w<9>; .reg .pred %p;\n"
                  "mov.u32 %lane, %tid.x; ld.param.u64 %at, [at]; mov.u32 %w8, shared;\n" +
                  body + "}")));
  constexpr std::size_t bytes = 16384;
  std::byte* const memory = device.allocate("memory", bytes).value();
  EXPECT_TRUE(device.clear(memory, bytes));
  LaunchRequest request{.entry = "k", .threads = {64}, .shared_bytes = bytes, .counts = true};
  request.parameters = {std::as_bytes(std::span(&memory, 1))};
  const CountedRange range{reinterpret_cast<std::uintptr_t>(memory), named, 1};
  if (named > 0) request.ranges = {&range, 1};
  const auto counts = device.launch(request);
  EXPECT_TRUE(counts) << counts.error().message;
  return counts.value_or(LaunchCounts{});
}

/// A load of each thread from a place of its own, `stride` bytes apart.
LaunchCounts strided_loads(const std::string& type, const std::string& registers, int stride) {
  return counts_of("mad.wide.u32 %x1, %lane, " + std::to_string(stride) + ", %at; ld.global." + type + " " +
                   registers + ", [%x1];");
}

TEST(PtxCounts, TakeSectorsByRequest) {
  const LaunchCounts together = strided_loads("u32", "%w0", 4);
  EXPECT_EQ(together.global_loads.requests, 2U);
  EXPECT_EQ(together.global_loads.bytes, 256U);
  EXPECT_EQ(together.global_loads.sectors, 8U);
  EXPECT_EQ(together.global_loads.unique_bytes, 256U);
  EXPECT_EQ(strided_loads("u32", "%w0", 32).global_loads.sectors, 64U);
  EXPECT_EQ(strided_loads("u32", "%w0", 8).global_loads.sectors, 16U);
  EXPECT_EQ(strided_loads("v4.u32", "{%w0, %w1, %w2, %w3}", 16).global_loads.sectors, 32U);
  const LaunchCounts same = strided_loads("u32", "%w0", 0);
  EXPECT_EQ(same.global_loads.bytes, 256U);
  EXPECT_EQ(same.global_loads.sectors, 2U);
  EXPECT_EQ(same.global_loads.unique_bytes, 4U);
}

TEST(PtxCounts, KeepStoresAndAtomicsApart) {
  const LaunchCounts counts = counts_of(
      "mad.wide.u32 %x1, %lane, 4, %at; st.global.u32 [%x1], 1; st.global.u32 [%x1], 2; red.global.add.u32 "
      "[%at], 1;");
  EXPECT_EQ(counts.global_stores.requests, 4U);
  EXPECT_EQ(counts.global_stores.bytes, 512U);
  EXPECT_EQ(counts.global_stores.unique_bytes, 256U);
  EXPECT_EQ(counts.global_atomics.requests, 2U);
  EXPECT_EQ(counts.global_atomics.sectors, 2U);
  EXPECT_EQ(counts.global_loads.requests, 0U);
}

TEST(PtxCounts, TellPiecesOfMemoryApart) {
  const LaunchCounts counts = counts_of(
      "mad.wide.u32 %x1, %lane, 4, %at; ld.global.u32 %w0, [%x1]; ld.global.u32 %w0, [%x1]; st.global.u32 "
      "[%x1], 1; red.global.add.u32 [%at], 1;",
      64);
  ASSERT_EQ(counts.kinds.size(), 3U);
  EXPECT_EQ(counts.kinds[0].loads.bytes, 0U);
  EXPECT_EQ(counts.kinds[1].loads.bytes, 128U);
  EXPECT_EQ(counts.kinds[1].loads.sectors, 4U);
  EXPECT_EQ(counts.kinds[1].loads.unique_bytes, 64U);
  EXPECT_EQ(counts.kinds[1].loads.unique_sectors, 2U);
  EXPECT_EQ(counts.kinds[2].loads.unique_sectors, 6U);
  EXPECT_EQ(counts.kinds[2].stores.bytes, 192U);
  EXPECT_EQ(counts.kinds[1].atomics.sectors, 2U);
  EXPECT_EQ(counts.global_loads.unique_sectors, 8U);
  EXPECT_EQ(counts.global_loads.sectors, counts.kinds[1].loads.sectors + counts.kinds[2].loads.sectors);
  EXPECT_TRUE(counts_of("mov.u32 %w0, 1;").kinds.empty());
}

/// Passes and conflicts of a store of each thread, `stride` bytes apart.
MemoryCount strided_stores(const std::string& type, const std::string& registers, int stride) {
  return counts_of("mad.lo.u32 %w1, %lane, " + std::to_string(stride) + ", %w8; mov.u32 %w2, 0; st.shared." +
                   type + " [%w1], " + registers + ";")
      .shared_stores;
}

TEST(PtxCounts, TakeBankConflictsByWord) {
  EXPECT_EQ(strided_stores("u32", "%w2", 4).conflicts, 0U);
  EXPECT_EQ(strided_stores("u32", "%w2", 8).conflicts, 2U);     // two words a bank, in each of two warps
  EXPECT_EQ(strided_stores("u32", "%w2", 128).conflicts, 62U);  // all in one bank
  EXPECT_EQ(strided_stores("u32", "%w2", 132).conflicts, 0U);   // a word of padding
  EXPECT_EQ(strided_stores("v4.u32", "{%w2, %w2, %w2, %w2}", 16).conflicts, 0U);
  EXPECT_EQ(strided_stores("v4.u32", "{%w2, %w2, %w2, %w2}", 16).passes, 8U);
  EXPECT_EQ(strided_stores("v2.u32", "{%w2, %w2}", 8).passes, 4U);
  EXPECT_EQ(strided_stores("v4.u32", "{%w2, %w2, %w2, %w2}", 128).conflicts, 56U);
  EXPECT_EQ(strided_stores("u8", "%w2", 4).conflicts, 0U);
}

TEST(PtxCounts, TakeOneWordReadByAllAsOnePass) {
  const LaunchCounts counts = counts_of(
      "setp.eq.u32 %p, %lane, 0; @%p st.shared.u32 [%w8], 5; bar.sync 0; ld.shared.u32 %w0, [%w8];");
  EXPECT_EQ(counts.shared_stores.passes, 1U);
  EXPECT_EQ(counts.shared_loads.passes, 2U);
  EXPECT_EQ(counts.shared_loads.bytes, 256U);
  EXPECT_EQ(counts.shared_loads.conflicts, 0U);
}

std::uint64_t warps_of(const LaunchCounts& counts, const std::string& spelling) {
  const auto found = std::find_if(counts.instructions.begin(), counts.instructions.end(),
                                  [&](const InstructionCount& count) { return count.spelling == spelling; });
  return found == counts.instructions.end() ? 0 : found->warps;
}

TEST(PtxCounts, TakeInstructionsByWarpAndLane) {
  const LaunchCounts counts = counts_of(R"(
    setp.lt.u32 %p, %lane, 48; @%p bra LOW;
    add.u32 %w0, %lane, 1; add.u32 %w0, %w0, 1;
    LOW: bar.sync 0; sub.u32 %w1, %lane, 1;)");
  EXPECT_EQ(warps_of(counts, "add.u32"), 2U);  // the second warp's upper half alone
  EXPECT_EQ(warps_of(counts, "sub.u32"), 2U);
  const auto adds = std::find_if(counts.instructions.begin(), counts.instructions.end(),
                                 [](const InstructionCount& count) { return count.spelling == "add.u32"; });
  ASSERT_NE(adds, counts.instructions.end());
  EXPECT_EQ(adds->lanes, 32U);
  EXPECT_EQ(counts.branches, 2U);
  EXPECT_EQ(counts.divergent_branches, 1U);
  EXPECT_EQ(counts.barriers, 1U);
  EXPECT_EQ(counts.threads, 64U);
  const std::string table = table_of(counts, 3);
  EXPECT_THAT(table, testing::HasSubstr("2 branches (1 divergent), 1 barriers"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'),
            6);  // two heads of columns, one line above, three rows
}

}  // namespace
}  // namespace draftscope::ptx::test
