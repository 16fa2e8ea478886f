// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti/activity_buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "cupti/recent_by_id.h"

namespace draftscope::profiler::cupti {
namespace {

TEST(ActivityBuffers, AreAlignedAndZeroedEvenWhenUsedAgain) {
  ActivityBuffers buffers;
  for (int round = 0; round < 3; ++round) {
    std::uint8_t* const data = buffers.request();
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 8, 0U);
    EXPECT_TRUE(std::all_of(data, data + ActivityBuffers::buffer_bytes, [](auto byte) { return byte == 0; }));
    std::fill_n(data, 100, std::uint8_t{1});
    buffers.complete({data, 100});
    for (const CompletedBuffer& completed : buffers.take_completed()) buffers.recycle(completed);
  }
}

TEST(ActivityBuffers, AreBounded) {
  ActivityBuffers buffers;
  buffers.prepare(2);
  std::set<std::uint8_t*> given;
  while (std::uint8_t* const data = buffers.request()) given.insert(data);
  EXPECT_EQ(given.size(), ActivityBuffers::max_buffers);
  buffers.complete({*given.begin(), 0});
  EXPECT_EQ(buffers.request(), nullptr);
  buffers.recycle(buffers.take_completed().at(0));
  EXPECT_EQ(buffers.request(), *given.begin());
}

TEST(ActivityBuffers, LoseNothingBetweenThreads) {
  ActivityBuffers buffers;
  constexpr std::size_t each = 200;
  std::atomic<int> running = 3;
  std::atomic<std::size_t> refused = 0;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (std::size_t j = 0; j < each; ++j) {
        std::uint8_t* const data = buffers.request();
        if (data != nullptr) {
          data[0] = 1;
          buffers.complete({data, 1});
        } else {
          ++refused;
        }
      }
      --running;
    });
  std::size_t taken = 0;
  for (bool last = false; !last;) {
    last = running == 0;
    for (const CompletedBuffer& buffer : buffers.take_completed()) {
      EXPECT_EQ(buffer.data[0], 1);
      buffers.recycle(buffer);
      ++taken;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken + refused, 3 * each);
}

TEST(RecentById, KeepsTheLatestOfEachPlaceAndNothingElse) {
  RecentById<int> recent(8);
  EXPECT_EQ(recent.find(0), nullptr);
  for (int id = 1; id <= 20; ++id) recent.put(static_cast<std::uint64_t>(id), 10 * id);
  for (std::uint64_t id = 1; id <= 20; ++id) {
    const int* const found = recent.find(id);
    ASSERT_EQ(found != nullptr, id > 12) << id;
    if (found != nullptr) {
      EXPECT_EQ(*found, static_cast<int>(10 * id));
    }
  }
}

}  // namespace
}  // namespace draftscope::profiler::cupti
