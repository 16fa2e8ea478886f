// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lookahead's memory (Fu et al. 2024, Lookahead Decoding, algorithm 2): for each token the n-grams that were
// seen to start with it; the least recently seen one is replaced first. Its memory grows with the number of
// different tokens and is reused from text to text.

#include <cstdint>
#include <span>
#include <vector>

#include "strategies/rule_guess.h"

namespace draftscope::speculation {

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

/// Adds to a tree of guesses the part of `continuation` that it does not have: continuations of one token
/// with a common beginning share rows of the verification.
void add_continuation(std::span<const std::int32_t> continuation, std::vector<TextGuess>& tree);

/// Sizes of the window's levels: each round adds a level until all N − 1 exist. Level 0 begins wider than
/// W − 1, since each added level takes a column from those before it; it has no column for the root.
class LevelSizes {
 public:
  /// W = `columns` ≥ 1, N = `ngram` ≥ 3.
  LevelSizes(std::int32_t columns, std::int32_t ngram);
  [[nodiscard]] bool full() const { return sizes_.size() == levels_; }
  void add_level();
  /// Rows of the window after the root.
  [[nodiscard]] std::int32_t rows() const;

 private:
  std::size_t levels_;
  std::vector<std::int32_t> sizes_;
};

}  // namespace draftscope::speculation
