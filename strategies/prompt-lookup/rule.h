// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt lookup: what followed the last few tokens where they stood before, in prompt or output, is guessed
// to follow again.
// Sources: Saxena, "Prompt Lookup Decoding" (2023), whose public code demands a continuation of the full
// length and guesses one fixed token where nothing matches; PromptLookupCandidateGenerator of transformers,
// which takes shorter continuations, ends them before an end-of-text token and else guesses nothing.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strategies/suffix-decoding/rule_automaton.h"

namespace draftscope::speculation {

/// Earlier occurrences of the last n tokens of a growing text: a chain through all occurrences of each
/// n-gram. O(n) a token; memory for three numbers a token.
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

struct LookupOptions {
  /// The occurrence of an end of the text that is continued; `longest`: the leftmost of the longest one that
  /// occurred before.
  enum class Match : std::uint8_t { leftmost, latest, longest };
  std::int32_t ngram = 3;      ///< tokens of the longest end that is looked up
  std::int32_t min_ngram = 1;  ///< tokens of the shortest
  std::int32_t length = 10;    ///< guesses a round
  Match match = Match::leftmost;
  bool is_published = true;  ///< continuations of the full length alone, one fixed guess without a match;
                             ///< else as transformers does
};

/// Guesses from an index of a growing text: a token costs amortised constant time.
class PromptLookup {
 public:
  /// `vocab` bounds the fixed guess.
  PromptLookup(const LookupOptions& options, std::int32_t vocab);

  /// Forgets the text; `tokens` is how long the next one is expected to get.
  void begin_request(std::size_t tokens, std::span<const std::int32_t> end_tokens);
  /// Indexes the tokens that `text` has more than before. It is not kept.
  void extend(std::span<const std::int32_t> text);
  /// The guesses of what follows `text`, the text so far with tokens appended. Valid until the next call;
  /// without allocations while the text is no longer than expected.
  [[nodiscard]] std::span<const std::int32_t> guess(std::span<const std::int32_t> text);

 private:
  [[nodiscard]] std::optional<std::int32_t> continuation(std::int32_t tokens) const;

  LookupOptions options_;
  std::int32_t no_match_;  // the public code's guess where nothing matches
  std::vector<std::int32_t> end_tokens_;
  std::vector<NgramIndex> indices_;  // the largest n first
  SuffixAutomaton automaton_;
  std::vector<std::int32_t> guesses_;
};

[[nodiscard]] LookupOptions lookup_options(const StrategySpecification& prompt_lookup);

}  // namespace draftscope::speculation
