// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/parallel.h>

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace draftscope {
namespace {

TEST(ForEachIndex, CallsEachIndexOnceAndShowsItsCallerWhatWasWritten) {
  for (const std::size_t threads : {0U, 1U, 3U, 100U}) {
    std::vector<int> calls(257);
    for_each_index(calls.size(), threads, [&](std::size_t index) { ++calls[index]; });
    for (std::size_t index = 0; index < calls.size(); ++index)
      EXPECT_EQ(calls[index], 1) << threads << " threads, index " << index;
  }
}

TEST(ForEachIndex, ThrowsToItsCallerAndLeavesOutWhatHasNotBegun) {
  for (const std::size_t threads : {1U, 4U}) {
    std::atomic<std::size_t> calls = 0;
    const auto run = [&] {
      for_each_index(1'000'000, threads, [&](std::size_t index) {
        ++calls;
        if (index == 3) throw std::runtime_error("three");
      });
    };
    EXPECT_THROW(run(), std::runtime_error) << threads;
    EXPECT_LT(calls, 1'000'000U) << threads;
  }
}

// The test runs in a separate thread, whose affinity mask ends with it.
TEST(ThreadCount, IsThatOfTheProcessorsInTheAffinityMask) {
  std::size_t counted = 0;
  std::size_t asked = 0;
  bool is_bound = false;
  std::thread([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ASSERT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
    std::size_t processor = 0;
    while (!CPU_ISSET(processor, &mask)) ++processor;
    CPU_ZERO(&mask);
    CPU_SET(processor, &mask);
    is_bound = ::sched_setaffinity(0, sizeof(mask), &mask) == 0;
    counted = thread_count(0);
    asked = thread_count(7);
  }).join();
  ASSERT_TRUE(is_bound);
  EXPECT_EQ(counted, 1U);
  EXPECT_EQ(asked, 7U);
  EXPECT_EQ(thread_count(-1), usable_processors());
}

}  // namespace
}  // namespace draftscope
