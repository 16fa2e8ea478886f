// SPDX-License-Identifier: GPL-3.0-or-later
// What the emulated device refuses: kernels that start beside those before them and do not wait, and calls
// that have no place in a captured graph.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "block_emulation.h"
#include "emulated_gpu.h"
#include "loop_condition.h"

#include "cuda/kernels/device.h"

namespace draftscope::engine::cuda::emulation {
namespace {

constexpr Grid early{.blocks = 2, .threads = 32, .shared_bytes = 0, .may_start_early = true};

void start_all(GridRun& run) {
  while (run.start_block()) {
  }
}

void finish(GridRun& run) {
  run.let_through();
  while (run.go_on()) {
  }
}

TEST(EmulatedKernels, StartBeforeTheOneAheadUpToTheirWait) {
  std::vector<int> seen;
  int written = 0;
  GridRun run(early, [&] {
    if (thread_index() == 0) seen.push_back(written);
    wait_for_previous_kernel();
    if (thread_index() == 0) seen.push_back(written);
  });
  start_all(run);
  written = 1;  // by the kernel ahead
  finish(run);
  EXPECT_EQ(seen, (std::vector<int>{0, 0, 1, 1}));
}

TEST(EmulatedKernels, StayBehindTheOneAheadIfTheyMayNotStartEarly) {
  int seen = -1;
  int written = 0;
  GridRun run({.blocks = 1, .threads = 32}, [&] { seen = written; });
  start_all(run);
  written = 1;
  finish(run);
  EXPECT_EQ(seen, 1);
}

TEST(EmulatedKernels, MustWaitInEveryThreadIfTheyMayStartEarly) {
  GridRun all(early, [] { wait_for_previous_kernel(); });
  EXPECT_NO_THROW(finish(all));
  GridRun one(early, [] {
    if (thread_index() == 0) wait_for_previous_kernel();
  });
  EXPECT_THROW(finish(one), std::logic_error);
}

TEST(EmulatedKernels, FindCopiedBytesBehindTheWaitForTheirGroupAndNotBefore) {
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

/// Runs a kernel that ends or goes on with a loop.
void say(LoopHandle loop, bool goes_on) {
  GridRun run({.blocks = 1, .threads = 32}, [&] {
    if (thread_index() == 0) go_on_if(loop, goes_on);
  });
  finish(run);
}

TEST(EmulatedKernels, EndTheLoopThatTheyAreIn) {
  LoopCondition loop;
  for (const int times : {1, 3, 1}) {
    int runs = 0;
    EXPECT_TRUE(loop.run([&]() -> Result<void> {
      say(loop.handle(), ++runs < times);
      return {};
    }));
    EXPECT_EQ(runs, times);
  }
  const auto is_named = [](const Result<void>& failed, std::string_view what) {
    return !failed && failed.error().message.find(what) != std::string::npos;
  };
  EXPECT_TRUE(is_named(loop.run([]() -> Result<void> { return {}; }), "says whether it goes on"));
  EXPECT_TRUE(is_named(loop.run([&]() -> Result<void> {
    say(loop.handle(), true);
    return {};
  }),
                       "expected an end"));
  EXPECT_THROW(say(loop.handle() + 1, true), std::logic_error);
}

TEST(EmulatedDevice, TakesALoopFirstInItsGraphAndNoOther) {
  const auto gpu = make_emulated_gpu(1);
  EXPECT_FALSE(gpu->begin_loop());
  ASSERT_TRUE(gpu->begin_graph());
  ASSERT_TRUE(gpu->begin_loop());
  ASSERT_TRUE(gpu->end_loop());
  EXPECT_FALSE(gpu->begin_loop());
  ASSERT_TRUE(gpu->end_graph());
  const auto without = make_emulated_gpu(1, usual_memory_bytes, 1, usual_shared_bytes, false);
  EXPECT_FALSE(without->describe().has_loops);
  ASSERT_TRUE(without->begin_graph());
  EXPECT_FALSE(without->begin_loop());
}

TEST(EmulatedDevice, CapturesLaunchesAlone) {
  const auto gpu = make_emulated_gpu(1);
  int value = 0;
  ASSERT_TRUE(gpu->begin_graph());
  EXPECT_FALSE(gpu->upload(&value, &value, sizeof value));
  EXPECT_FALSE(gpu->clear(&value, sizeof value));
  EXPECT_FALSE(gpu->multiply({}));
  EXPECT_FALSE(gpu->synchronise());
  ASSERT_TRUE(gpu->end_graph());
  EXPECT_TRUE(gpu->synchronise());
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
