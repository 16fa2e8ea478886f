// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Loops over indices on several threads.

#include <cstddef>
#include <cstdint>
#include <functional>

namespace draftscope {

/// Processors this process may run on, at least 1: its affinity mask counts, not the machine.
[[nodiscard]] std::size_t usable_processors();

/// Threads to use: `requested`, or usable_processors() if that is 0 or less.
[[nodiscard]] std::size_t thread_count(std::int32_t requested);

/// Calls work(0) … work(count - 1), each once, from up to `threads` threads in no particular order; returns
/// when all are done. Runs on fewer threads if the system gives no more. What the first failing call throws
/// is thrown here, after every thread has ended; indices not begun by then are left out.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace draftscope
