// SPDX-License-Identifier: GPL-3.0-or-later
#include "thread_team.h"

#include <limits>

namespace draftscope::engine::cpu {
namespace {

// About 50 µs on current processors: longer than any hand-over inside a forward pass of a small model,
// shorter than what a scheduler tick costs when the partner has lost its core.
constexpr int spins_before_sleep = 2000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(std::int32_t threads) : threads_(threads) {
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (std::int32_t thread = 1; thread < threads; ++thread)
      workers_.emplace_back([this, thread] { work(thread); });
  } catch (...) {
    const auto begun = static_cast<std::int32_t>(workers_.size());
    arrived_.fetch_add(threads_ - 1 - begun, std::memory_order_acq_rel);  // for those that never began
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  stop();
}

void ThreadTeam::stop() {
  stopping_ = true;
  barrier();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::start_and_join() {
  barrier();
  call_(body_, 0);
  barrier();
}

void ThreadTeam::work(std::int32_t thread) {
  while (true) {
    barrier();
    if (stopping_) return;
    call_(body_, thread);
    barrier();
  }
}

void ThreadTeam::barrier() {
  if (threads_ == 1) return;
  const std::int32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_ - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    // The counter wraps by design; only equality is ever asked for.
    const bool wraps = generation == std::numeric_limits<std::int32_t>::max();
    generation_.store(wraps ? 0 : generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  for (int spin = 0; spin < spins_before_sleep; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    pause();
  }
  while (generation_.load(std::memory_order_acquire) == generation) generation_.wait(generation);
}

}  // namespace draftscope::engine::cpu
