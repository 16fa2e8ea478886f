// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Byte statistics of prompts that tell kinds of texts apart; no tokenizer is needed.

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace draftscope::simulator {

/// Share of the positions whose next eight bytes occurred before in the text; 0 for a text of up to eight
/// bytes.
[[nodiscard]] double repeated_share(std::string_view text);

/// Counts of bytes by the up to two bytes before them.
class ByteTrigrams {
 public:
  ByteTrigrams() = default;
  explicit ByteTrigrams(std::string_view text) { add(text); }

  void add(std::string_view text);

  /// Bits per byte of `text` under these counts minus those of `without`. The model is a mixture with fixed
  /// weights of trigrams, bigrams, bytes and a uniform byte (Jelinek and Mercer 1980). 0 for an empty text.
  [[nodiscard]] double entropy(std::string_view text, const ByteTrigrams& without = {}) const;

 private:
  [[nodiscard]] double count(std::uint32_t key) const;

  std::unordered_map<std::uint32_t, std::int32_t> counts_;  ///< Counts of n-grams, and of contexts.
};

}  // namespace draftscope::simulator
