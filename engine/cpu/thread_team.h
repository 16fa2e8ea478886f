// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A fixed team of threads that runs one body together: the caller is thread 0, and all meet at barriers
// inside the body. Waiting spins for a bounded time first, because within a forward pass the next piece of
// work is usually microseconds away, then sleeps on a futex, so that an idle backend costs nothing.
//
// Thread-safety: one caller at a time. The body must not throw.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace draftscope::engine::cpu {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): hot words have cache lines of their own
class ThreadTeam {
 public:
  /// Throws what the standard library does where a thread can't be started.
  explicit ThreadTeam(std::int32_t threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  [[nodiscard]] std::int32_t size() const { return threads_; }

  /// Calls body(thread) on every thread and returns when all have returned.
  template <typename Body>
  void run(Body& body) {
    body_ = &body;
    call_ = [](void* object, std::int32_t thread) { (*static_cast<Body*>(object))(thread); };
    start_and_join();
  }

  /// Inside a body: returns when every thread of the team has called it. What was written before is visible.
  void barrier();

 private:
  void start_and_join();
  void work(std::int32_t thread);
  void stop();

  const std::int32_t threads_;
  void* body_ = nullptr;
  void (*call_)(void*, std::int32_t) = nullptr;
  bool stopping_ = false;
  // Two lines of cache: threads that arrive do not disturb threads that watch the generation.
  alignas(64) std::atomic<std::int32_t> arrived_{0};
  alignas(64) std::atomic<std::int32_t> generation_{0};
  std::vector<std::thread> workers_;
};

}  // namespace draftscope::engine::cpu
