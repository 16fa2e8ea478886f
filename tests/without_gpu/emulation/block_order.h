// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The partial order of the actions of a cooperative grid's blocks, whatever order they run in: a vector clock
// for each block. A block's arrival at a counter comes after all that the block did before, and after all
// arrivals that were counted before it. A wait for `n` arrivals comes after the first `n`, and not after
// further ones that happened to be counted as well.
//
// The actions of one block count as ordered as they ran: threads of a block have no separate clocks.

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace draftscope::engine::cuda::emulation {

/// A block and a time of its own clock, in one number. 0 is before everything.
using Moment = std::uint32_t;

class BlockOrder {
 public:
  static constexpr int max_blocks = 256;

  /// Begins a grid. Moments of earlier grids come before all of its moments. If this returns false, clocks
  /// have been reset, and earlier moments must not be compared any more.
  bool begin(int blocks);

  static int block_of(Moment moment) { return static_cast<int>(moment >> clock_bits); }
  [[nodiscard]] Moment now(int block) const {
    return static_cast<Moment>(block) << clock_bits | of(block)[static_cast<std::size_t>(block)];
  }
  /// Whether an action at `earlier` comes before what `block` does now.
  [[nodiscard]] bool is_before(Moment earlier, int block) const {
    const std::uint32_t clock = earlier & max_clock;
    return clock < begin_ || clock <= of(block)[earlier >> clock_bits];
  }

  /// Records a block's `n` arrivals at a counter that had `before` arrivals.
  void arrive(int block, const unsigned* counter, unsigned before, unsigned n);
  /// Must be called when a block has waited for `n` arrivals.
  void see_arrivals(int block, const unsigned* counter, unsigned n);

 private:
  static constexpr unsigned clock_bits = 24;
  static constexpr std::uint32_t max_clock = (1U << clock_bits) - 1;

  /// The last time of each block that comes before.
  using Clocks = std::vector<std::uint32_t>;
  struct Arrival {
    unsigned before;
    unsigned after;
    Clocks clocks;  ///< Clocks of all arrivals up to this one.
  };
  [[nodiscard]] const Clocks& of(int block) const { return clocks_[static_cast<std::size_t>(block)]; }

  std::uint32_t begin_ = 1;     ///< Every clock's first time in this grid.
  std::vector<Clocks> clocks_;  ///< One per block.
  std::unordered_map<const unsigned*, std::vector<Arrival>> arrivals_;
};

}  // namespace draftscope::engine::cuda::emulation
