// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Earlier occurrences of the last n tokens of a growing text: a chain through all occurrences of each n-gram.
// O(n) a token; memory for three numbers a token.

#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

class NgramIndex {
 public:
  explicit NgramIndex(std::int32_t size) : size_(size) {}

  [[nodiscard]] std::int32_t size() const { return size_; }
  /// Forgets the text; `tokens` is how long the next one is expected to get.
  void begin(std::size_t tokens);
  /// `text` is the text so far with tokens appended. It is not kept.
  void extend(std::span<const std::int32_t> text);

  /// Position behind the leftmost occurrence of the text's last n tokens. -1 if there is
  /// none before the end of the text.
  [[nodiscard]] std::int32_t behind_leftmost() const;
  /// Position behind the latest occurrence with such a position of at most `last`. Takes a step for each
  /// later one.
  [[nodiscard]] std::int32_t behind_latest(std::int32_t last) const;

 private:
  [[nodiscard]] std::size_t slot_of(std::span<const std::int32_t> text, std::size_t last) const;
  void grow(std::span<const std::int32_t> text, std::size_t slots);

  std::int32_t size_;
  // By the position of an n-gram's last token: the first position with the same n-gram, and the one before.
  std::vector<std::int32_t> first_, previous_;
  // Open addressing: the latest position of each n-gram, -1 = free. The size is a power of two.
  std::vector<std::int32_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace draftscope::speculation
