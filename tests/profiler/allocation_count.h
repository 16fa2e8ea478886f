// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

/// Allocations of this thread so far: this program's operator new counts, so that a test can say how many a
/// stretch of code made.
[[nodiscard]] std::int64_t allocation_count();
