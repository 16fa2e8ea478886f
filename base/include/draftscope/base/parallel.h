// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Loops over indices on several threads.

#include <cstddef>
#include <cstdint>
#include <functional>

namespace draftscope {

/// Number of processors that this process may use, by its affinity mask; at least 1.
[[nodiscard]] std::size_t usable_processors();

/// Number of threads to use: `requested`, or usable_processors() if that is 0 or less.
[[nodiscard]] std::size_t thread_count(std::int32_t requested);

/// Calls work(0) … work(count - 1), each once, from up to `threads` threads in any order; returns when all
/// are done. Uses fewer threads if the system gives no more. Rethrows the exception of the first failing call
/// after every thread has ended; indices not begun by then are left out.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace draftscope
