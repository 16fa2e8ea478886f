// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A running block: its threads as fibers, and what they wait for.

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "block_emulation.h"
#include "copy_barriers.h"
#include "device_emulation.h"

#include "cuda/kernels/launch_shape.h"

namespace draftscope::engine::cuda::emulation {

namespace context = boost::context;

/// A lane's part of an exchange within its warp: a number, or the factors of an mma.
using Words = std::array<float, 12>;

/// The place of the fiber that is currently running.
struct Here {
  int thread, block, blocks, threads;
  std::byte* shared;
};

using Order = std::minstd_rand;

enum class Waits : std::uint8_t {
  for_nothing,
  for_turn,  ///< Used in a cooperative grid, where other threads may run first.
  for_warp,
  for_block,
  for_phase,
  for_arrivals,
  ended
};

/// The condition that a thread of a cooperative grid waits for: the end of a phase, or arrivals.
struct Condition {
  const CopyBarrier* barrier;
  const unsigned* counter;
  unsigned value;  ///< The phase's parity or the number of arrivals.
  bool is_met;
};

inline constexpr std::size_t copy_bytes = 16;

/// A copy that has not arrived; a null source stands for zeros.
struct Copy {
  std::byte* to;
  const std::byte* from;
};

/// A queue of at most `most` values.
template <typename Value, std::size_t most>
class Queue {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns false if the queue is full.
  bool push(const Value& value) {
    if (size_ == most) return false;
    values_[(first_ + size_++) % most] = value;
    return true;
  }
  /// Removes the first value, which must exist, and returns it.
  Value pop() {
    const Value value = values_[first_];
    first_ = (first_ + 1) % most;
    --size_;
    return value;
  }
  void clear() { first_ = size_ = 0; }

 private:
  std::array<Value, most> values_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

struct Thread {
  context::fiber fiber;  ///< Valid while the thread waits.
  int exchanges = 0;
  // Queues are as short as kernels allow, so that the state of 256 threads fits in a cache.
  Queue<Copy, 32> copies;              ///< In the order in which they were started.
  Queue<std::uint8_t, 8> copy_groups;  ///< Copies in each group that nobody has waited for.
  std::uint8_t ungrouped = 0;          ///< Copies that are in no group yet.
};

class Block {
 public:
  enum class State { goes_on, ended };

  /// Starts the grid's block `index`; none of its threads may be running. Shared memory is undefined at the
  /// start of a block; here it is a NaN in every format.
  void begin(const Grid& grid, int index, const std::function<void()>& body);

  /// Runs the block up to a barrier of the whole block, or to its end.
  State run(Order& order);

  /// Advances a cooperative grid's block by one step: lanes of some warp run up to their next waits, or a
  /// piece arrives. False if nothing can be done before another block does something.
  bool advance(Order& order);
  [[nodiscard]] bool has_ended() const { return count(Waits::ended, 0, threads_.size()) == threads_.size(); }
  /// Makes all waits for arrivals return false. Returns whether there was one.
  bool end_waits_for_arrivals();
  /// Says how many threads wait for what.
  [[nodiscard]] std::string waits() const;

  void wait(Waits what) {
    const auto mine = static_cast<std::size_t>(here_.thread);
    waits_[mine] = what;
    const std::optional<std::size_t> next = lane_to_run(mine + 1, warp_end(mine));
    if (!next) return came_from(std::move(scheduler_).resume());
    enter(*next);
    came_from(std::move(threads_[*next].fiber).resume_with([this, mine](context::fiber&& waiting) {
      threads_[mine].fiber = std::move(waiting);
      return context::fiber();
    }));
  }

  /// Words of this lane for its next exchange.
  Words& to_hand_in() {
    const auto mine = static_cast<std::size_t>(here_.thread);
    return words_of(mine)[mine % warp_threads];
  }
  /// Called by all lanes of the warp. Returns what each lane contributed, valid until this lane's next
  /// exchange.
  const std::array<Words, warp_threads>& exchange() {
    const auto mine = static_cast<std::size_t>(here_.thread);
    const std::array<Words, warp_threads>& words = words_of(mine);
    ++threads_[mine].exchanges;
    wait(Waits::for_warp);
    return words;
  }

  void begin_copy(const Copy& copy);
  void end_copy_group();
  void wait_for_copies(std::size_t left);

  void init_barrier(CopyBarrier* barrier, unsigned arrivals);
  void begin_piece(const Piece& piece);
  void wait_for_phase(const CopyBarrier* barrier, unsigned parity);
  bool wait_for_arrivals(const unsigned* counter, unsigned n);
  /// Sometimes lets other threads run first. Must be called after an action that they may wait for.
  void perhaps_pause();

  [[nodiscard]] const Here& here() const { return here_; }

 private:
  void begin(std::size_t index, const std::function<void()>& body);

  static std::size_t warp_end(std::size_t thread) { return (thread / warp_threads + 1) * warp_threads; }

  /// The first thread in [begin, end) that waits for nothing.
  [[nodiscard]] std::optional<std::size_t> lane_to_run(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i)
      if (waits_[i] == Waits::for_nothing) return i;
    return std::nullopt;
  }

  /// Sets the thread that runs from here on.
  void enter(std::size_t thread) { here_.thread = static_cast<int>(thread); }

  /// Called by a thread that continues. If the scheduler resumed it, `from` is the scheduler's fiber; if
  /// another thread did, it is empty.
  void came_from(context::fiber&& from) {
    if (from) scheduler_ = std::move(from);
  }

  /// Two places alternate, because a lane may be one exchange ahead of another that still reads.
  std::array<Words, warp_threads>& words_of(std::size_t thread) {
    return warps_[thread / warp_threads][static_cast<std::size_t>(threads_[thread].exchanges % 2)];
  }

  bool run_lanes(std::size_t warp);
  bool run_warp(std::size_t warp);
  void release_barriers();
  bool run_some_warp(Order& order);
  bool check_condition(std::size_t thread);
  void check_conditions(std::size_t warp);
  bool wait_for_condition(Waits what, const Condition& condition);
  void stop_if(Fault fault);
  void check_is_cooperative();
  void throw_fault() const;

  [[nodiscard]] std::size_t count(Waits what, std::size_t begin, std::size_t end) const {
    return static_cast<std::size_t>(std::count(&waits_[begin], waits_.data() + end, what));
  }

  void release(Waits what, std::size_t begin, std::size_t end) {
    std::replace(&waits_[begin], waits_.data() + end, what, Waits::for_nothing);
  }

  bool is_cooperative_ = false;
  Fault fault_ = nullptr;  ///< Fault of a thread that was found where nothing can be thrown.
  std::vector<std::byte> shared_;
  std::vector<Thread> threads_;
  std::vector<Waits> waits_;  ///< One per thread.
  std::vector<std::array<std::array<Words, warp_threads>, 2>> warps_;
  std::vector<std::size_t> warp_order_;
  context::fiber scheduler_;
  Here here_{};

  // State of a cooperative grid.
  Order* order_ = nullptr;
  std::vector<Condition> conditions_;  ///< One per thread.
  Pieces pieces_;
  std::size_t last_warp_ = 0;
  unsigned steps_per_landing_ = 0;  ///< Steps on average; 0 = not drawn yet.
};

/// The block that is running; null between the steps of a grid.
extern Block* current;

}  // namespace draftscope::engine::cuda::emulation
