// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace draftscope::simulator {

/// As asked, or what the machine runs at once if 0.
[[nodiscard]] std::size_t thread_count(std::int32_t asked);

/// Calls work(i) for every i below `count`, on up to `threads` threads; returns when all are done. `work` may
/// write to what belongs to its index alone. With fewer threads than asked if the system gives no more.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& work);

}  // namespace draftscope::simulator
