// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Guesses that follow from the text alone, with how often they are right. What would have been guessed at any
// position of the output is known whether or not it was verified, so every token scores every guess that was
// open before it: nothing has to be tried out.
//
// A guess is the continuation of the leftmost occurrence of the longest end of the text that occurred before
// (suffix_automaton.h). Its tokens are counted by the length of that end and by their place in the guess,
// given that those before were right.

#include <draftscope/speculation/auto/fading_counts.h>
#include <draftscope/speculation/rules/suffix_automaton.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

class TextGuesses {
 public:
  /// `max_length`: tokens of the longest guess.
  explicit TextGuesses(std::int32_t max_length);

  /// Forgets the text, but not how often guesses were right.
  void begin_request(std::span<const std::int32_t> prompt, std::size_t tokens);
  /// `text` is the text so far with tokens appended. It is not kept.
  void extend(std::span<const std::int32_t> text);

  /// Tokens of the text's end that occurred before; 0 = none.
  [[nodiscard]] std::int32_t match() const { return match_; }
  /// The guess behind `text`, as it was last extended to: a part of it.
  [[nodiscard]] std::span<const std::int32_t> guess(std::span<const std::int32_t> text) const;
  /// Probability that the guess's token at this place is right, given that those before are.
  [[nodiscard]] double acceptance(std::int32_t place) const { return acceptance(match_, place); }
  [[nodiscard]] double acceptance(std::int32_t match, std::int32_t place) const;

 private:
  /// A guess whose tokens were right so far.
  struct Open {
    std::int32_t match = 0;
    std::int32_t begin = 0;  // of its tokens in the text
    std::int32_t place = 0;  // of the token that comes next
  };

  [[nodiscard]] static std::size_t cell(std::int32_t match, std::int32_t place);
  void score(std::span<const std::int32_t> text, std::int32_t token);

  std::int32_t max_length_;
  SuffixAutomaton automaton_;
  FadingCounts counts_;
  std::vector<Open> open_;
  std::int32_t seen_ = 0;  // tokens of the text
  std::int32_t match_ = 0;
  std::int32_t behind_ = 0;  // where the guess begins
};

}  // namespace draftscope::speculation
