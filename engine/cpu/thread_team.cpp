// SPDX-License-Identifier: GPL-3.0-or-later
#include "thread_team.h"

#include <draftscope/base/clock.h>

#include <limits>

namespace draftscope::engine::cpu {
namespace {

// About 50 µs on current processors. This is longer than any hand-over inside a forward pass of a small
// model, and shorter than the cost of a scheduler tick when the partner has lost its core.
constexpr int spins_before_sleep = 2000;
// Spins if another program is waiting for the core.
constexpr int spins_when_crowded = 20;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(std::int32_t threads) : threads_(threads), choice_(threads), is_alone_(threads == 1) {
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (std::int32_t thread = 1; thread < threads; ++thread)
      workers_.emplace_back([this, thread] { work(thread); });
  } catch (...) {
    const auto begun = static_cast<std::int32_t>(workers_.size());
    // Arrive for the threads that never started.
    arrived_.fetch_add(threads_ - 1 - begun, std::memory_order_acq_rel);
    stop();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  stop();
}

void ThreadTeam::stop() {
  stopping_ = true;
  if (threads_ > 1) meet();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run_and_choose() {
  if (threads_ == 1) return call_(body_, 0);
  caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (is_alone_) {
    call_(body_, 0);
    choice_.observe_alone();
  } else {
    slept_ = {};
    const std::int64_t start_ns = now_ns();
    meet();
    call_(body_, 0);
    meet();
    choice_.observe_team(now_ns() - start_ns, slept_);
    is_crowded_.store(choice_.is_crowded(), std::memory_order_relaxed);
  }
  is_alone_ = choice_.runs_alone();
}

void ThreadTeam::work(std::int32_t thread) {
  while (true) {
    meet();
    if (stopping_) return;
    call_(body_, thread);
    meet();
  }
}

void ThreadTeam::meet() {
  const std::int32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_ - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    // The counter wraps by design; it is only compared for equality.
    const bool wraps = generation == std::numeric_limits<std::int32_t>::max();
    generation_.store(wraps ? 0 : generation + 1, std::memory_order_release);
    generation_.notify_all();
    return;
  }
  const int spins = is_crowded_.load(std::memory_order_relaxed) ? spins_when_crowded : spins_before_sleep;
  for (int spin = 0; spin < spins; ++spin) {
    if (generation_.load(std::memory_order_acquire) != generation) return;
    pause();
  }
  sleep_until_met(generation);
}

void ThreadTeam::sleep_until_met(std::int32_t generation) {
  const std::int64_t start_ns = now_ns();
  while (generation_.load(std::memory_order_acquire) == generation) generation_.wait(generation);
  if (std::this_thread::get_id() == caller_.load(std::memory_order_relaxed)) slept_.add(now_ns() - start_ns);
}

}  // namespace draftscope::engine::cpu
