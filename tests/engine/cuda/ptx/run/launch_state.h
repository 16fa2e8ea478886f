// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A launch under way: the grid, its blocks, their warps.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "memory/global_memory.h"
#include "memory/shared_memory.h"
#include "run/counts.h"
#include "run/program.h"

namespace draftscope::ptx {

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Bytes of a region that a launch touched, a bit each.
struct TouchedBytes {
  std::vector<std::uint64_t> loaded, stored;
};

/// Counts that grow while a launch runs.
struct RunningCounts {
  std::vector<std::uint64_t> warps, lanes;  ///< by step
  LaunchCounts totals;
  std::unordered_map<const Region*, TouchedBytes> touched;
  std::vector<std::uint64_t> prefetched_sectors;  ///< their addresses / 32, as often as they were asked for
  std::span<const CountedRange> ranges;
};

/// Sets the condition of a graph's node by its handle; false if there is none.
using SetCondition = bool (*)(std::uint64_t handle, bool value);

struct Grid {
  const Program* program = nullptr;
  GlobalMemory* memory = nullptr;
  Extent blocks, threads;
  std::vector<std::byte> parameters;
  std::size_t shared_bytes = 0;  ///< of a block, with the kernel's own
  bool may_start_early = false;
  GridNumber number;
  std::uint64_t clock_ns = 0;
  SetCondition set_condition = nullptr;  ///< null = no node has one
  RunningCounts* counts = nullptr;       ///< null = nothing is counted
  Region* last_region = nullptr;         ///< the one that the last access hit
};

/// A copy by cp.async that has not arrived.
struct PendingCopy {
  int lane;
  std::uint64_t from;
  std::size_t to;  ///< offset in shared memory
  std::uint8_t bytes, source_bytes;
  std::array<std::byte, 16> at_issue;
};

/// Copies of one lane's instruction stream, oldest group first; the last one is not committed.
struct LaneCopies {
  std::vector<std::vector<PendingCopy>> groups{1};
};

enum class Waits : std::uint8_t { for_nothing, for_lanes, for_block };

/// Lanes of a warp that go on together.
struct LaneGroup {
  Mask lanes = 0;
  std::int32_t at = 0;  ///< step
  Waits waits = Waits::for_nothing;
};

struct Block;

struct Warp {
  Block* block = nullptr;
  int index = 0;
  Mask live = 0;
  Mask has_waited = 0;  ///< lanes behind griddepcontrol.wait
  std::vector<std::uint32_t> words;
  std::vector<LaneGroup> groups;
  Mask carry = 0, carry_written = 0;  ///< the condition code
  std::vector<LaneCopies> copies;     ///< a lane each; empty until the first one
};

struct Block {
  Grid* grid = nullptr;
  std::uint32_t x = 0, y = 0, z = 0;
  std::uint64_t index = 0;
  SharedMemory shared{0};
  std::vector<std::byte> local;  ///< [thread][local bytes]
  std::vector<std::uint8_t> local_written;
  std::vector<Warp> warps;
};

}  // namespace draftscope::ptx
