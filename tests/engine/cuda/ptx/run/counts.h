// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a launch did, counted.
//
// A request is one load or store instruction of one warp. Sectors are 32 bytes; a request's sectors are the
// different ones that its lanes touch, which is what goes to the second cache if the first holds nothing.
// Shared memory has 32 banks of four bytes: a request takes as many passes as the busiest bank has different
// words, counted for each half of the warp where a lane takes eight bytes, and each quarter where it takes
// sixteen (CUDA C++ Programming Guide, Shared Memory).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::ptx {

/// Times that instructions of one spelling were run.
struct InstructionCount {
  std::string spelling;
  std::uint64_t warps = 0;  ///< times that a warp did it, for whichever of its lanes
  std::uint64_t lanes = 0;
};

struct MemoryCount {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;           ///< of all lanes together
  std::uint64_t sectors = 0;         ///< global memory only
  std::uint64_t unique_bytes = 0;    ///< global memory only: what must move, however often it is touched
  std::uint64_t unique_sectors = 0;  ///< global memory only: what a cache that forgets nothing lets move
  std::uint64_t passes = 0;          ///< shared memory only
  std::uint64_t conflicts = 0;       ///< shared memory only: passes beyond those that the bytes need
};

/// A piece of global memory whose traffic is counted by its kind: weights, say. Begins at a sector.
struct CountedRange {
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  std::size_t kind = 0;
};

/// Global memory's traffic of one kind. What an atomic touches counts as loaded, where bytes are unique.
struct KindCount {
  MemoryCount loads, stores, atomics;
};

struct LaunchCounts {
  std::string kernel;
  std::uint64_t blocks = 0, threads = 0;
  std::vector<InstructionCount> instructions;  ///< most frequent first
  std::uint64_t warp_instructions = 0;
  std::uint64_t branches = 0, divergent_branches = 0;
  std::uint64_t barriers = 0;  ///< of whole blocks
  MemoryCount global_loads, global_stores, global_atomics;
  MemoryCount shared_loads, shared_stores;
  MemoryCount local_loads, local_stores;
  std::uint64_t prefetched_sectors = 0;
  std::uint64_t useless_prefetches = 0;  ///< of sectors that no lane loads, or that were prefetched before
  std::vector<KindCount> kinds;          ///< by kind; the last one is of what no range holds
};

/// The entry of `kinds` for an address.
[[nodiscard]] KindCount& kind_of(std::vector<KindCount>& kinds, std::span<const CountedRange> ranges,
                                 std::uint64_t address);

/// A table for people, its rows of instructions limited to the `max_instructions` most frequent ones.
[[nodiscard]] std::string table_of(const LaunchCounts& counts, std::size_t max_instructions = 12);

}  // namespace draftscope::ptx
