// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lookahead's memory: for each token the n-grams that were seen to start with it, the least recently seen of
// them replaced first. Grows with the number of different tokens and keeps its memory from text to text.

#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

class NgramPool {
 public:
  /// Up to `capacity` continuations of `length` tokens behind each token of a vocabulary.
  NgramPool(std::int32_t vocab, std::int32_t length, std::int32_t capacity);

  void clear();
  /// Adds a continuation behind `token`, or makes it the most recent if it is there.
  void add(std::int32_t token, std::span<const std::int32_t> continuation);
  [[nodiscard]] std::int32_t count(std::int32_t token) const;
  /// 0 = the least recent.
  [[nodiscard]] std::span<const std::int32_t> continuation(std::int32_t token, std::int32_t index) const;

 private:
  std::size_t length_;
  std::size_t capacity_;
  std::vector<std::int32_t> place_;          // by token: among counts_; -1 = none yet
  std::vector<std::int32_t> tokens_;         // by place
  std::vector<std::int32_t> counts_;         // by place
  std::vector<std::int32_t> continuations_;  // [place][capacity][length], the least recent first
};

}  // namespace draftscope::engine
