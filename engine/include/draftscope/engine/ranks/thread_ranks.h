// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks that are threads of this process: what tests of many ranks run on.

#include <draftscope/engine/ranks/collective.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace draftscope::engine {

/// `size` ranks, at least one, for a thread each. Whoever calls waits until all have.
[[nodiscard]] std::vector<std::unique_ptr<Collective>> make_thread_ranks(std::int32_t size);

}  // namespace draftscope::engine
