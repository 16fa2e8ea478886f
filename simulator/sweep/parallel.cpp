// SPDX-License-Identifier: GPL-3.0-or-later
#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace draftscope::simulator {

std::size_t thread_count(std::int32_t asked) {
  if (asked > 0) return static_cast<std::size_t>(asked);
  return std::max(std::thread::hardware_concurrency(), 1U);
}

void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  const std::size_t useful = std::min(threads, count);
  for (std::size_t i = 1; i < useful; ++i) {
    try {
      others.emplace_back(take);
    } catch (const std::system_error&) {
      break;
    }
  }
  take();
  for (std::thread& other : others) other.join();
}

}  // namespace draftscope::simulator
