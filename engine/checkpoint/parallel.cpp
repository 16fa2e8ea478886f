// SPDX-License-Identifier: GPL-3.0-or-later
#include "parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace draftscope::engine {

std::size_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return std::max(1U, std::thread::hardware_concurrency());
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

void for_each_index(std::size_t n, std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t index = next++; index < n; index = next++) work(index);
  };
  std::vector<std::jthread> others;
  try {
    while (others.size() + 1 < std::min(threads, n)) others.emplace_back(run);
  } catch (const std::system_error&) {
    // Fewer threads than asked for do the same work.
  }
  run();
}

}  // namespace draftscope::engine
