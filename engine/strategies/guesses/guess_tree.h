// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Guessed continuations of one token as a tree of proposals: those that begin alike share rows of the
// verification.

#include <draftscope/engine/strategy.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Adds the part of `continuation` that the tree does not have.
inline void add_continuation(std::span<const std::int32_t> continuation, std::vector<Proposal>& tree) {
  std::int32_t parent = -1;
  for (const std::int32_t token : continuation) {
    const auto same = std::find_if(tree.begin(), tree.end(), [&](const Proposal& proposal) {
      return proposal.parent == parent && proposal.token == token;
    });
    const auto index = static_cast<std::int32_t>(same - tree.begin());
    if (same == tree.end()) tree.push_back({token, parent});
    parent = index;
  }
}

}  // namespace draftscope::engine
