// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Counts the allocations of this program: allocation_count.cpp replaces operator new with one that counts, so
// that a test can say how often a section of code allocates.

#include <cstdint>

/// Allocations of all threads.
[[nodiscard]] std::int64_t allocation_count();
/// Allocations of the calling thread.
[[nodiscard]] std::int64_t allocation_count_here();
