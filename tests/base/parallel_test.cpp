// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace draftscope {
namespace {

TEST(ForEachIndex, CallsEachIndexOnceOnAnyNumberOfThreads) {
  for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
    for (const std::size_t threads : {1U, 2U, 3U, 8U}) {
      std::vector<int> calls(count, 0);  // each index has an element of its own
      for_each_index(count, threads, [&](std::size_t index) { ++calls[index]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1)) << count << " on " << threads << " threads";
    }
  }
}

TEST(ForEachIndex, ShowsWhatWasWrittenToTheCaller) {
  std::vector<std::string> texts(200);
  for_each_index(texts.size(), 4, [&](std::size_t index) { texts[index] = std::to_string(index); });
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::to_string(i));
}

TEST(ForEachIndex, ThrowsWhatACallThrewOnceAllThreadsHaveEnded) {
  std::atomic<int> running = 0;
  const auto work = [&](std::size_t index) {
    ++running;
    if (index == 5) {
      --running;
      throw std::runtime_error("index 5");
    }
    --running;
  };
  try {
    for_each_index(100, 4, work);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "index 5");
  }
  EXPECT_EQ(running, 0);
}

TEST(ThreadCount, IsWhatWasAskedForElseTheProcessorsThatMayBeUsed) {
  EXPECT_EQ(thread_count(3), 3U);
  EXPECT_EQ(thread_count(0), usable_processors());
  EXPECT_EQ(thread_count(-1), usable_processors());
  EXPECT_GE(usable_processors(), 1U);
}

}  // namespace
}  // namespace draftscope
