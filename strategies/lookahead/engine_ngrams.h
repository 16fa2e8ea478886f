// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lookahead's memory: for each token the n-grams that were seen to start with it; the least recently seen one
// is replaced first. Its memory grows with the number of different tokens and is reused from text to text.

#include <draftscope/engine/strategy.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

class NgramPool {
 public:
  /// Stores up to `capacity` continuations of `length` tokens after each token of a vocabulary.
  NgramPool(std::int32_t vocab, std::int32_t length, std::int32_t capacity);

  void clear();
  /// Adds a continuation after `token`, or makes it the most recent if it is stored.
  void add(std::int32_t token, std::span<const std::int32_t> continuation);
  [[nodiscard]] std::int32_t count(std::int32_t token) const;
  /// The continuation at this place; 0 = the least recent.
  [[nodiscard]] std::span<const std::int32_t> continuation(std::int32_t token, std::int32_t index) const;

 private:
  std::size_t length_;
  std::size_t capacity_;
  std::vector<std::int32_t> place_;          // by token: index into counts_; -1 = none yet
  std::vector<std::int32_t> tokens_;         // by place
  std::vector<std::int32_t> counts_;         // by place
  std::vector<std::int32_t> continuations_;  // [place][capacity][length], the least recent first
};

/// Builds a tree of proposals from guessed continuations of one token: those with a common beginning share
/// rows of the verification.
///
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
