// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A test whose ranks are this process and a child of it.

#include <cstdint>
#include <functional>

#include "socket_ranks.h"

namespace draftscope::cuda_stand_in {

/// Calls `second` in a child as rank 1, and `first` here as rank 0; the child's exit code, which `second`
/// returns, or -1 if it did not end well. To be called before this process has threads.
[[nodiscard]] int on_two_processes(const std::function<void(engine::Collective&)>& first,
                                   const std::function<int(engine::Collective&)>& second);

}  // namespace draftscope::cuda_stand_in
