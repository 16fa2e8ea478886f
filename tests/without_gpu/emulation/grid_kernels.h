// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small kernels of cooperative grids, some of which lack a barrier. Their file is compiled as the engine's
// kernels are for the emulated device.

#include <cstdint>

namespace draftscope::engine::test {

/// The kernels' data in device memory.
struct GridMemory {
  unsigned arrivals = 0;
  unsigned items = 0;
  std::int32_t values[8] = {};  ///< One of each block.
  std::int32_t sums[8] = {};
  std::int32_t sum = 0;
};

/// The barriers that a kernel uses.
struct KeptBarriers {
  bool of_grid_after_writes = true;
  bool of_grid_after_reads = true;
  bool of_block_before_arrivals = true;
  unsigned missing_arrivals = 0;  ///< Arrivals that a barrier of the grid does not wait for.
};

/// In each of some rounds every block writes its value, and then sums the values of all.
void sum_in_rounds(GridMemory& memory, const KeptBarriers& kept);
/// Each block writes its value; the last to arrive sums them.
void sum_by_the_last(GridMemory& memory);

/// How a block touches the first value.
enum class Touch { read, write, read_and_write };
/// Block 0 touches the first value, and then block 1 does, with nothing that orders the two. `turn` is not
/// device memory.
void touch_in_turn(GridMemory& memory, Touch first, Touch second, int& turn);

}  // namespace draftscope::engine::test
