// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks that are threads of this process: what tests of many ranks run on. Nobody watches for one that hangs:
// a thread is not stopped and loses no machine without the others, and one that ends is known to have.

#include <draftscope/engine/ranks/collective.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace draftscope::engine {

/// `size` ranks, at least one, for a thread each. Whoever calls waits until all have.
[[nodiscard]] std::vector<std::unique_ptr<Collective>> make_thread_ranks(std::int32_t size);

}  // namespace draftscope::engine
