// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/parallel.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace draftscope {

std::size_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return std::max(1U, std::thread::hardware_concurrency());
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

std::size_t thread_count(std::int32_t requested) {
  return requested > 0 ? static_cast<std::size_t>(requested) : usable_processors();
}

void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t index = next++; index < count; index = next++) work(index);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (failure == nullptr) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(threads, count)) others.emplace_back(run);
    } catch (const std::system_error&) {
      // The system gives fewer threads, which then do all the work.
    }
    run();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace draftscope
