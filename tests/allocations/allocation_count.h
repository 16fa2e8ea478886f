// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How often this program allocated: linked with allocation_count.cpp, its operator new counts, so that a test
// can say how many times a stretch of code did.

#include <cstdint>

/// Allocations of all threads.
[[nodiscard]] std::int64_t allocation_count();
/// Allocations of the calling thread.
[[nodiscard]] std::int64_t allocation_count_here();
