// SPDX-License-Identifier: GPL-3.0-or-later
#include "rank_watch.h"

#include <draftscope/base/clock.h>

#include <chrono>
#include <ctime>
#include <utility>

namespace draftscope::engine {
namespace {

std::int64_t read_ns(clockid_t clock) {
  std::timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Processor time of the process but for the calling thread.
std::int64_t work_ns() {
  return read_ns(CLOCK_PROCESS_CPUTIME_ID) - read_ns(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

RankWatch::RankWatch(std::int32_t rank, std::int32_t size, std::int64_t limit_ns,
                     std::unique_ptr<BeatCarrier> carrier, std::function<void(const std::string&)> on_hang)
    : rank_(rank),
      beat_ns_(limit_ns / beats_per_limit),
      carrier_(std::move(carrier)),
      on_hang_(std::move(on_hang)),
      signs_(rank, size, limit_ns, now_ns()),
      told_last_(signs_.peers().size()),
      thread_([this] { run(); }) {}

RankWatch::~RankWatch() {
  if (!thread_.joinable()) return;
  wish(Wish::stop);
  thread_.join();
}

void RankWatch::finish() {
  wish(Wish::finish);
  thread_.join();
}

void RankWatch::wish(Wish next) {
  const std::lock_guard lock(mutex_);
  wish_ = next;
  changed_.notify_all();
}

Result<bool> RankWatch::say_last() {
  bool all = true;
  for (std::size_t peer = 0; peer < told_last_.size(); ++peer) {
    if (!told_last_[peer]) {
      DRAFTSCOPE_TRY_ASSIGN(const bool was_sent, carrier_->send(peer, {.work_ns = work_ns(), .is_last = 1}));
      told_last_[peer] = was_sent;
    }
    all = all && told_last_[peer];
  }
  return all;
}

/// One beat of this rank and all that came. True: nothing is left to say or to hear.
Result<bool> RankWatch::exchange(Wish wish) {
  for (std::size_t peer = 0; peer < told_last_.size(); ++peer)
    for (;;) {
      DRAFTSCOPE_TRY_ASSIGN(const std::optional<Beat> beat, carrier_->receive(peer));
      if (!beat) break;
      signs_.hear(peer, *beat, now_ns());
    }
  // Rank 0 says its last first. The others answer with theirs, and rank 0 hears them until then.
  if (wish == Wish::finish && (rank_ == 0 || signs_.all_ended())) {
    DRAFTSCOPE_TRY_ASSIGN(const bool all_told, say_last());
    return all_told && signs_.all_ended();
  }
  if (now_ns() - said_ns_ < beat_ns_) return false;
  said_ns_ = now_ns();
  const Beat beat{.work_ns = work_ns()};
  // One that is still on its way says as much as the next would.
  for (std::size_t peer = 0; peer < told_last_.size(); ++peer) DRAFTSCOPE_TRY(carrier_->send(peer, beat));
  return false;
}

void RankWatch::run() {
  std::unique_lock lock(mutex_);
  while (wish_ != Wish::stop) {
    const Wish wish = wish_;
    lock.unlock();
    const auto done = exchange(wish);
    std::optional<std::string> line;
    if (!done)
      line = done.error().message;
    else if (!*done)
      line = signs_.hanging(now_ns(), awaits_work_.load(std::memory_order_relaxed));
    if (line) on_hang_(*line);
    lock.lock();
    if (line || *done) return;
    // Another's last word may come at any moment. A wait may end a little before its time.
    constexpr std::int64_t finishing_ns = 1'000'000;
    const std::chrono::nanoseconds pause(wish == Wish::finish ? finishing_ns : beat_ns_ / 2);
    changed_.wait_for(lock, pause, [&] { return wish_ != wish; });
  }
}

}  // namespace draftscope::engine
