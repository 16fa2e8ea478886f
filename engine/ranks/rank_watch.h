// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A thread that says that its rank lives, and hears whether those that it waits for do.

#include <draftscope/base/result.h>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "life_signs.h"

namespace draftscope::engine {

/// Brings beats from rank to rank, apart from all else that ranks tell each other. Peers are places in
/// LifeSigns::peers(). Called by one thread. Errors: the messages can't be sent or received.
class BeatCarrier {
 public:
  virtual ~BeatCarrier() = default;
  /// False where the beat before is still on its way; nothing is sent then.
  [[nodiscard]] virtual Result<bool> send(std::size_t peer, const Beat& beat) = 0;
  /// The next beat that came, if one did. None after the last.
  [[nodiscard]] virtual Result<std::optional<Beat>> receive(std::size_t peer) = 0;
};

class RankWatch {
 public:
  /// `on_hang` is called once, on the watch's thread, with one line on the rank that hangs; nothing is sent
  /// or received afterwards.
  RankWatch(std::int32_t rank, std::int32_t size, std::int64_t limit_ns, std::unique_ptr<BeatCarrier> carrier,
            std::function<void(const std::string&)> on_hang);
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;
  /// Stops at once, whatever the others do.
  ~RankWatch();

  /// Whether the rank waits for others to compute: only then must they. Thread-safe.
  void expect_work(bool awaited) { awaits_work_.store(awaited, std::memory_order_relaxed); }
  /// Says that the rank has done its part, and returns once rank 0 has, too, and for rank 0 once all have: no
  /// beat is under way then. Before that a rank may hang as ever.
  void finish();

 private:
  enum class Wish : std::uint8_t { watch, finish, stop };

  void run();
  [[nodiscard]] Result<bool> say_last();  // whether every peer was told
  [[nodiscard]] Result<bool> exchange(Wish wish);
  void wish(Wish next);

  std::int32_t rank_;
  std::int64_t beat_ns_;
  std::unique_ptr<BeatCarrier> carrier_;
  std::function<void(const std::string&)> on_hang_;
  LifeSigns signs_;
  std::vector<bool> told_last_;  // [peer]
  std::int64_t said_ns_ = 0;     // when the last beat was sent
  std::atomic<bool> awaits_work_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  Wish wish_ = Wish::watch;
  std::thread thread_;
};

}  // namespace draftscope::engine
