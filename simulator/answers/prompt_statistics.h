// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is counted of prompts to tell kinds of texts apart, of their bytes: no tokenizer is needed.

#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace draftscope::simulator {

/// Share of the places whose next eight bytes occurred before in the text; 0 of a text of up to eight.
[[nodiscard]] double repeated_share(std::string_view text);

/// Counts of bytes by the up to two before them.
class ByteTrigrams {
 public:
  ByteTrigrams() = default;
  explicit ByteTrigrams(std::string_view text) { add(text); }

  void add(std::string_view text);

  /// Bits per byte that `text` takes under these counts less those of `without`: a mixture of fixed weights
  /// of trigrams, bigrams, bytes and any byte alike (Jelinek and Mercer 1980). 0 of an empty text.
  [[nodiscard]] double entropy(std::string_view text, const ByteTrigrams& without = {}) const;

 private:
  [[nodiscard]] double count(std::uint32_t key) const;

  std::unordered_map<std::uint32_t, std::int32_t> counts_;  ///< of n-grams, and of contexts by themselves
};

}  // namespace draftscope::simulator
