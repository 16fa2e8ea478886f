// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a test and the program under it share about allocations: a file that both map. The test writes which
// one is to fail, the library that is preloaded into the program (failing_allocations.cpp) writes which there
// were.

#include <array>
#include <cstddef>
#include <cstdint>

namespace draftscope::test {

/// Names the file in the program's environment. Without it the library fails nothing and counts nothing.
inline constexpr const char* allocation_points_variable = "DRAFTSCOPE_ALLOCATION_POINTS";

inline constexpr std::size_t frames_per_stack = 12;
/// Innermost frames that tell places apart: with more of them there are ever more places that differ in who
/// called alone.
inline constexpr std::size_t frames_per_label = 6;
inline constexpr std::size_t max_allocation_points = std::size_t{1} << 17U;  // a power of two
inline constexpr std::size_t max_modules = 64;

/// Return addresses, innermost first, each relative to where its file is mapped, so that they are the same in
/// every run; 0 behind the last. The 16 uppermost bits are 1 + the index of the module.
using CallStack = std::array<std::uint64_t, frames_per_stack>;

/// All allocations of one size at one place.
struct AllocationPoint {
  std::uint64_t label = 0;  ///< of the call stack's first frames; 0 in an entry that is free
  std::uint64_t bytes = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t order = 0;  ///< allocations that came before the first of these
  CallStack stack{};
};

/// Which allocation is to fail: label 0 for none.
struct AllocationFailure {
  std::uint64_t label = 0;
  std::uint64_t bytes = 0;
  std::uint64_t occurrence = 1;    ///< counted from 1
  std::uint64_t from_then_on = 0;  ///< 1: so is every later one, on every thread
};

/// The file. The program counts points only while nothing is to fail.
struct AllocationPoints {
  AllocationFailure wanted;
  std::uint64_t allocations = 0;
  std::uint64_t is_reached = 0;  ///< 1: the wanted one was asked for, and failed
  std::uint64_t unlisted = 0;    ///< allocations for whose points there was no room
  std::array<std::array<char, 128>, max_modules> modules{};  ///< file names, as the loader has them
  std::array<AllocationPoint, max_allocation_points> points{};
};

}  // namespace draftscope::test
