// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt lookup guesses that the tokens after an earlier occurrence of the last few tokens, in prompt or
// output, follow again. Sources: Saxena, "Prompt Lookup Decoding" (2023), whose public code requires a
// continuation of the full length and guesses one fixed token where nothing matches;
// PromptLookupCandidateGenerator of transformers, which takes shorter continuations, ends them before an
// end-of-text token and otherwise guesses nothing.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strategies/suffix-decoding/rule_automaton.h"

namespace draftscope::speculation {

/// Earlier occurrences of the last n tokens of a growing text, as a chain through all occurrences of each
/// n-gram. O(n) per token; memory for three numbers per token.
class NgramIndex {
 public:
  explicit NgramIndex(std::int32_t size) : size_(size) {}

  [[nodiscard]] std::int32_t size() const { return size_; }
  /// Forgets the text. `tokens`: expected length of the next one.
  void begin(std::size_t tokens);
  /// Extends the index to `text`, the text so far with tokens appended. It is not stored.
  void extend(std::span<const std::int32_t> text);

  /// Position after the leftmost occurrence of the text's last n tokens; -1 if there is none before the end
  /// of the text.
  [[nodiscard]] std::int32_t behind_leftmost() const;
  /// Position after the latest occurrence for which that position is at most `last`. Takes one step for each
  /// later one.
  [[nodiscard]] std::int32_t behind_latest(std::int32_t last) const;

 private:
  [[nodiscard]] std::size_t slot_of(std::span<const std::int32_t> text, std::size_t last) const;
  void grow(std::span<const std::int32_t> text, std::size_t slots);

  std::int32_t size_;
  // [position of an n-gram's last token]: the first position with the same n-gram, and the one before.
  std::vector<std::int32_t> first_, previous_;
  // A hash table with open addressing: the latest position of each n-gram; -1 = free. The size is a power of
  // two.
  std::vector<std::int32_t> slots_;
  std::size_t used_ = 0;
};

struct LookupOptions {
  /// The occurrence of the text's end to continue. `longest` takes the leftmost occurrence of the longest end
  /// that occurred before.
  enum class Match : std::uint8_t { leftmost, latest, longest };
  std::int32_t ngram = 3;      ///< Tokens of the longest end that is looked up.
  std::int32_t min_ngram = 1;  ///< Tokens of the shortest end that is looked up.
  std::int32_t length = 10;    ///< Guesses per round.
  Match match = Match::leftmost;
  bool is_published = true;  ///< Whether only continuations of the full length count, with one fixed guess
                             ///< without a match; otherwise as in transformers.
};

/// Guesses from an index of a growing text, in amortised constant time per token.
class PromptLookup {
 public:
  /// `vocab`: limit of the fixed guess.
  PromptLookup(const LookupOptions& options, std::int32_t vocab);

  /// Forgets the text. `tokens`: expected length of the next one.
  void begin_request(std::size_t tokens, std::span<const std::int32_t> end_tokens);
  /// Indexes the tokens that `text` has more than before. It is not stored.
  void extend(std::span<const std::int32_t> text);
  /// The guesses after `text`, the text so far with tokens appended. Valid until the next call. Allocates
  /// nothing while the text is no longer than expected.
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
