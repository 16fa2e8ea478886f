// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid_kernels.h"

#include "cuda/kernels/device.h"

namespace draftscope::engine::test {

namespace {

using cuda::arrive;
using cuda::block_count;
using cuda::block_index;
using cuda::block_threads;
using cuda::synchronise;
using cuda::thread_index;

void synchronise_grid(GridMemory& memory, unsigned round, const KeptBarriers& kept) {
  const auto blocks = static_cast<unsigned>(block_count());
  if (kept.of_block_before_arrivals) synchronise();
  if (thread_index() == 0) {
    arrive(&memory.arrivals, 1);
    cuda::wait_for_arrivals(&memory.arrivals, round * blocks - kept.missing_arrivals);
  }
  synchronise();
}

std::int32_t sum_of_values(const GridMemory& memory) {
  std::int32_t sum = 0;
  for (int i = 0; i < block_count(); ++i) sum += memory.values[i];
  return sum;
}

void touch_first(GridMemory& memory, Touch how) {
  if (how != Touch::write) memory.sums[block_index()] += memory.values[0];
  if (how != Touch::read) memory.values[0] = 1;
}

}  // namespace

void sum_in_rounds(GridMemory& memory, const KeptBarriers& kept) {
  unsigned barriers = 0;
  for (int round = 0; round < 3; ++round) {
    if (thread_index() == block_threads() - 1) memory.values[block_index()] = round;
    if (kept.of_grid_after_writes) synchronise_grid(memory, ++barriers, kept);
    if (thread_index() == 1) memory.sums[block_index()] += sum_of_values(memory);
    if (kept.of_grid_after_reads) synchronise_grid(memory, ++barriers, kept);
  }
}

void sum_by_the_last(GridMemory& memory) {
  if (thread_index() == 0) {
    memory.values[block_index()] = 1;
    if (arrive(&memory.items, 1) + 1 == static_cast<unsigned>(block_count())) {
      memory.items = 0;
      memory.sum = sum_of_values(memory);
    }
  }
}

void touch_in_turn(GridMemory& memory, Touch first, Touch second, int& turn) {
  while (turn < block_index()) cuda::synchronise_lanes();
  if (thread_index() == 31) {
    touch_first(memory, block_index() == 0 ? first : second);
    ++turn;
  }
}

}  // namespace draftscope::engine::test
