// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Guessed continuations of one token as a tree of proposals: those that begin alike share rows of the
// verification.

#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Adds the part of `continuation` that the tree does not have.
void add_continuation(std::span<const std::int32_t> continuation, std::vector<Proposal>& tree);

}  // namespace draftscope::engine
