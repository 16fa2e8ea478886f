// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>

namespace draftscope::engine {

/// Processors this process may run on, at least 1.
[[nodiscard]] std::size_t usable_processors();

/// Calls work(0) … work(n - 1), each once, from up to `threads` threads in no particular order; returns when
/// all are done. `work` must not throw.
void for_each_index(std::size_t n, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace draftscope::engine
