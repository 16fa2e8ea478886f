// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file through which a test and the program under it share data. The test writes which allocation is to
// fail. The library preloaded into the program (failing_allocations.cpp) writes which allocations there were.

#include <array>
#include <cstddef>
#include <cstdint>

namespace draftscope::test {

/// Environment variable of the program that names the file. Without it the library fails nothing and counts
/// nothing.
inline constexpr const char* allocation_points_variable = "DRAFTSCOPE_ALLOCATION_POINTS";

inline constexpr std::size_t frames_per_stack = 12;
/// Number of innermost frames that identify a place. With more frames, ever more places would differ only in
/// their callers.
inline constexpr std::size_t frames_per_label = 6;
inline constexpr std::size_t max_allocation_points = std::size_t{1} << 17U;  // a power of two
inline constexpr std::size_t max_modules = 64;

/// Return addresses, innermost first, with 0 after the last. Each is relative to where its file is mapped, so
/// that it is the same in every run. The 16 uppermost bits are 1 + the index of the module.
using CallStack = std::array<std::uint64_t, frames_per_stack>;

/// All allocations of one size at one place.
struct AllocationPoint {
  std::uint64_t label = 0;  ///< hash of the call stack's first frames; 0 = free entry
  std::uint64_t bytes = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t order = 0;  ///< number of allocations before the first one at this point
  CallStack stack{};
};

/// The allocation that is to fail; label 0 means none.
struct AllocationFailure {
  std::uint64_t label = 0;
  std::uint64_t bytes = 0;
  std::uint64_t occurrence = 1;    ///< counted from 1
  std::uint64_t from_then_on = 0;  ///< 1 = every later allocation on any thread fails too
};

/// Layout of the shared file. The program counts points only while nothing is to fail.
struct AllocationPoints {
  AllocationFailure wanted;
  std::uint64_t allocations = 0;
  std::uint64_t is_reached = 0;  ///< 1 = the wanted allocation was requested, and failed
  std::uint64_t unlisted = 0;    ///< number of allocations for whose points there was no room
  std::array<std::array<char, 128>, max_modules> modules{};  ///< file names as the loader has them
  std::array<AllocationPoint, max_allocation_points> points{};
};

}  // namespace draftscope::test
