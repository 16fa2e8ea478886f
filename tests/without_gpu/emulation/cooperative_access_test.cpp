// SPDX-License-Identifier: GPL-3.0-or-later
// Forbidden accesses of a cooperative grid's blocks to the same memory, and the errors of the emulated
// device.

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "block_emulation.h"
#include "block_order.h"
#include "device_accesses.h"
#include "grid_kernels.h"

#include "cuda/kernels/device.h"

namespace draftscope::engine::test {
namespace {

using cuda::emulation::AccessesOfGrid;
using cuda::emulation::BlockOrder;
using cuda::emulation::DeviceAccesses;
using cuda::emulation::Grid;
using cuda::emulation::GridRun;

constexpr std::uint32_t grid_seeds = 24;

Grid of_blocks(int blocks) {
  return {.blocks = blocks, .threads = 64, .is_cooperative = true};
}

/// Runs cooperative grids one after the other; returns the device's error, or an empty string.
std::string run_grids(GridMemory& memory, const std::vector<Grid>& grids, const std::function<void()>& body,
                      std::uint32_t seed) {
  DeviceAccesses accesses;
  accesses.add(&memory, sizeof memory, "memory");
  const auto place = [&](const std::byte* address) -> std::string {
    return address == reinterpret_cast<const std::byte*>(memory.values) ? "values" : "others";
  };
  for (const Grid& grid : grids) {
    GridRun run(grid, body, seed++);
    const AccessesOfGrid seen(accesses, grid.blocks);
    while (run.go_on()) {
    }
    if (const auto found = accesses.take_conflict("sums", place); !found) return found.error().message;
  }
  return "";
}

/// Errors of a kernel in rounds, over seeds.
std::set<std::string> errors_of_rounds(const KeptBarriers& kept, int blocks = 3) {
  std::set<std::string> all;
  for (std::uint32_t seed = 1; seed <= grid_seeds; ++seed) {
    GridMemory memory;
    all.insert(run_grids(
        memory, {of_blocks(blocks)}, [&] { sum_in_rounds(memory, kept); }, seed));
  }
  return all;
}

class CooperativeAccess : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::emulation::sees_accesses())
      GTEST_SKIP() << "this build has another sanitizer or counts lines: accesses are not seen";
  }
};

TEST_F(CooperativeAccess, IsOrderedByBarriersOfTheGrid) {
  EXPECT_EQ(errors_of_rounds({}), (std::set<std::string>{""}));
}

TEST_F(CooperativeAccess, IsOrderedByGridsThatFollowEachOther) {
  for (std::uint32_t seed = 1; seed <= grid_seeds; ++seed) {
    GridMemory memory;
    const auto body = [&] {
      if (cuda::block_count() > 1) return sum_by_the_last(memory);
      sum_in_rounds(memory, {.missing_arrivals = 1});  // It runs alone.
    };
    EXPECT_EQ(run_grids(memory, {of_blocks(5), of_blocks(1), of_blocks(3)}, body, seed), "");
    EXPECT_EQ(memory.sum, 3);
  }
}

TEST_F(CooperativeAccess, IsOrderedForTheLastToArrive) {
  for (std::uint32_t seed = 1; seed <= grid_seeds; ++seed) {
    GridMemory memory;
    EXPECT_EQ(run_grids(
                  memory, {of_blocks(6)}, [&] { sum_by_the_last(memory); }, seed),
              "");
    EXPECT_EQ(memory.sum, 6);
  }
}

TEST_F(CooperativeAccess, IsNamedWithTheBlocksThePlaceAndTheOrder) {
  const auto error = [](Touch first, Touch second) {
    std::set<std::string> all;
    for (std::uint32_t seed = 1; seed <= grid_seeds; ++seed) {
      GridMemory memory;
      int turn = 0;
      all.insert(run_grids(
          memory, {of_blocks(2)}, [&] { touch_in_turn(memory, first, second, turn); }, seed));
    }
    return all.size() == 1 ? *all.begin() : "differs";
  };
  EXPECT_EQ(error(Touch::read, Touch::read), "");
  EXPECT_EQ(
      error(Touch::write, Touch::read),
      "emulated GPU: sums: block 1 reads values (memory + 8) after block 0 wrote it, and nothing orders "
      "the two (read-after-write)");
  for (const Touch second : {Touch::write, Touch::read_and_write})
    EXPECT_EQ(
        error(Touch::read, second),
        "emulated GPU: sums: block 1 writes values (memory + 8) after block 0 read it, and nothing orders "
        "the two (write-after-read)");
  EXPECT_EQ(
      error(Touch::write, Touch::write),
      "emulated GPU: sums: block 1 writes values (memory + 8) after block 0 wrote it, and nothing orders "
      "the two (write-after-write)");
}

TEST_F(CooperativeAccess, IsFoundInAnyOrderIfABarrierOfTheGridLacks) {
  for (const KeptBarriers& kept :
       {KeptBarriers{.of_grid_after_writes = false}, KeptBarriers{.of_grid_after_reads = false},
        KeptBarriers{.missing_arrivals = 1}})
    for (const int blocks : {2, 3, 6}) EXPECT_EQ(errors_of_rounds(kept, blocks).count(""), 0U);
}

TEST_F(CooperativeAccess, IsFoundInSomeOrdersIfABarrierOfTheBlockLacks) {
  const std::set<std::string> errors = errors_of_rounds({.of_block_before_arrivals = false});
  EXPECT_GT(errors.size(), 1U);
}

TEST(BlockOrder, KnowsWhatArrivalsAWaitCountedOn) {
  BlockOrder order;
  ASSERT_TRUE(order.begin(3));
  unsigned counter = 7;
  const auto first = order.now(0);
  order.arrive(0, &counter, 7, 1);
  const auto after_first = order.now(0);
  const auto second = order.now(1);
  order.arrive(1, &counter, 8, 1);
  order.see_arrivals(2, &counter, 7);
  EXPECT_FALSE(order.is_before(first, 2));
  order.see_arrivals(2, &counter, 8);
  EXPECT_TRUE(order.is_before(first, 2));
  EXPECT_FALSE(order.is_before(after_first, 2));
  EXPECT_FALSE(order.is_before(second, 2));
  order.see_arrivals(2, &counter, 9);
  EXPECT_TRUE(order.is_before(second, 2));
  EXPECT_TRUE(order.is_before(first, 1));
  EXPECT_FALSE(order.is_before(second, 0));
  ASSERT_TRUE(order.begin(2));
  EXPECT_TRUE(order.is_before(after_first, 1));
  EXPECT_TRUE(order.is_before(second, 0));
  EXPECT_FALSE(order.is_before(order.now(1), 0));
}

TEST(BlockOrder, StartsAnewBeforeItsClocksEnd) {
  BlockOrder order;
  unsigned counter = 0;
  while (order.begin(2))
    for (int i = 0; i < 1 << 16; ++i) order.arrive(1, &counter, counter, 1);
  EXPECT_EQ(order.now(0), 1U);
  EXPECT_FALSE(order.is_before(order.now(1), 0));
}

}  // namespace
}  // namespace draftscope::engine::test
