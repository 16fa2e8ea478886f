// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A fixed team of threads that runs one body together: the caller is thread 0, and all meet at barriers
// inside the body. A waiting thread first spins for a bounded time, because within a forward pass the next
// piece of work is usually microseconds away. Then it sleeps on a futex, so that an idle backend costs
// nothing. If others want the cores, waiting threads yield them at once, and the caller runs alone while that
// is faster (team_choice.h).
//
// Thread-safety: one caller at a time. The body must not throw.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "team_choice.h"

namespace draftscope::engine::cpu {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): hot words have cache lines of their own
class ThreadTeam {
 public:
  /// Throws the standard library's exception if a thread can't be started.
  explicit ThreadTeam(std::int32_t threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  [[nodiscard]] std::int32_t size() const { return threads_; }
  /// Number of threads of the next run: all, or only the caller.
  [[nodiscard]] std::int32_t active() const { return is_alone_ ? 1 : threads_; }

  /// Calls body(thread) on every active thread and returns when all have returned.
  template <typename Body>
  void run(Body& body) {
    body_ = &body;
    call_ = [](void* object, std::int32_t thread) { (*static_cast<Body*>(object))(thread); };
    run_and_choose();
  }

  /// To be called inside a body: returns when every active thread has called it. Everything written before is
  /// then visible.
  void barrier() {
    if (!is_alone_) meet();
  }

 private:
  void run_and_choose();
  void meet();
  void sleep_until_met(std::int32_t generation);
  void work(std::int32_t thread);
  void stop();

  const std::int32_t threads_;
  TeamChoice choice_;
  bool is_alone_;                        // read inside bodies, written between runs
  std::atomic<std::thread::id> caller_;  // caller of the current run
  TeamSleep slept_;                      // sleep of the caller in the current run
  std::atomic<bool> is_crowded_{false};
  void* body_ = nullptr;
  void (*call_)(void*, std::int32_t) = nullptr;
  bool stopping_ = false;
  // Two cache lines: threads that arrive do not disturb threads that watch the generation.
  alignas(64) std::atomic<std::int32_t> arrived_{0};
  alignas(64) std::atomic<std::int32_t> generation_{0};
  std::vector<std::thread> workers_;
};

}  // namespace draftscope::engine::cpu
