// SPDX-License-Identifier: GPL-3.0-or-later
// Copies and memory of the emulated device.

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "block_emulation.h"
#include "emulated_gpu.h"

#include "cuda/kernels/device.h"

namespace draftscope::engine::cuda::emulation {
namespace {

void finish(GridRun& run) {
  while (run.go_on()) {
  }
}

TEST(EmulatedKernels, FindCopiedBytesAfterTheWaitForTheirGroupAndNotBefore) {
  alignas(16) static const int from[8] = {1, 1, 1, 1, 2, 2, 2, 2};
  std::vector<int> seen;
  GridRun run({.blocks = 1, .threads = 32, .shared_bytes = std::size_t{32} * 32}, [&] {
    std::byte* const mine = shared_memory() + thread_index() * 32;
    const auto* const values = reinterpret_cast<const int*>(mine);
    const auto look = [&] {
      if (thread_index() != 7) return;
      seen.push_back(values[0]);
      seen.push_back(values[4]);
    };
    begin_copy(mine, reinterpret_cast<const std::byte*>(from), true);
    end_copy_group();
    begin_copy(mine + 16, reinterpret_cast<const std::byte*>(from + 4), true);
    end_copy_group();
    look();
    wait_for_copies<1>();
    look();
    begin_copy(mine, nullptr, false);
    end_copy_group();
    wait_for_copies<1>();
    look();
    wait_for_copies<0>();
    look();
  });
  finish(run);
  EXPECT_EQ(seen, (std::vector<int>{-1, -1, 1, -1, -1, 2, 0, 2}));
}

TEST(EmulatedKernels, MustWaitForTheirCopies) {
  alignas(16) static const int from[4] = {};
  GridRun run({.blocks = 1, .threads = 32, .shared_bytes = 32 * 16}, [] {
    begin_copy(shared_memory() + thread_index() * 16, reinterpret_cast<const std::byte*>(from), true);
    end_copy_group();
  });
  EXPECT_THROW(finish(run), std::logic_error);
}

TEST(EmulatedKernels, StartNoMoreCopiesAndGroupsThanThereIsRoomFor) {
  const auto start_and_wait = [](int groups, int copies) {
    GridRun run({.blocks = 1, .threads = 32, .shared_bytes = 32 * 16}, [&] {
      for (int group = 0; group < groups; ++group) {
        for (int copy = 0; copy < copies; ++copy)
          begin_copy(shared_memory() + thread_index() * 16, nullptr, false);
        end_copy_group();
      }
      wait_for_copies<0>();
    });
    finish(run);
  };
  EXPECT_NO_THROW(start_and_wait(8, 4));
  EXPECT_THROW(start_and_wait(1, 33), std::logic_error);
  EXPECT_THROW(start_and_wait(9, 1), std::logic_error);
}

TEST(EmulatedDevice, HasNoMoreMemoryThanItWasGiven) {
  const auto gpu = make_emulated_gpu(1, 1000);
  const auto first = gpu->allocate(600, "one");
  ASSERT_TRUE(first);
  EXPECT_EQ(gpu->free_bytes().value(), 400U);
  EXPECT_FALSE(gpu->allocate(401, "two"));
  gpu->release(*first);
  EXPECT_EQ(gpu->free_bytes().value(), 1000U);
}

}  // namespace
}  // namespace draftscope::engine::cuda::emulation
