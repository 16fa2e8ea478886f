// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Guesses from the text alone, and how often they are correct. The guess at any position of the output is
// known whether or not it was verified. Every token therefore scores every open guess, and nothing has to be
// tried.
//
// Two sources guess independently, each with its own score. Tokens are counted by the length of the text's
// end that the guess continues and by their place in the guess, given that those before were correct.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "strategies/auto/rule_confidences.h"
#include "strategies/suffix-decoding/rule.h"
#include "strategies/suffix-decoding/rule_automaton.h"

namespace draftscope::speculation {

/// Source of a guess of the text's continuation.
enum class TextSource : std::uint8_t {
  lookup,  ///< The leftmost occurrence of the longest end of the text that occurred before
           ///< (strategies/suffix-decoding/rule_automaton.h).
  suffix,  ///< The most frequent continuation of ends of the text, in this request or in earlier outputs
           ///< (strategies/suffix-decoding/rule.h).
};
[[nodiscard]] std::string_view text_source_name(TextSource source);

class TextGuesses {
 public:
  /// `max_length`: tokens of the longest guess.
  explicit TextGuesses(std::int32_t max_length);

  static constexpr std::array<TextSource, 2> sources{TextSource::lookup, TextSource::suffix};

  /// Forgets the text, but neither the scores of guesses nor the outputs of earlier requests.
  void begin_request(std::span<const std::int32_t> prompt, std::size_t tokens);
  /// `text` is the text so far with tokens appended. It is not stored.
  void extend(std::span<const std::int32_t> text);

  /// Tokens of the text's end that the guess continues; 0 = there is no guess.
  [[nodiscard]] std::int32_t match(TextSource source) const { return latest_[index(source)].match; }
  /// The guess after `text`, the text of the last extend(): valid until the next extend(), and as long as
  /// `text` is.
  [[nodiscard]] std::span<const std::int32_t> guess(std::span<const std::int32_t> text,
                                                    TextSource source) const;
  /// Probability that the guess's token at this place is correct, given that those before are.
  [[nodiscard]] double acceptance(TextSource source, std::int32_t place) const {
    return acceptance(source, match(source), place);
  }
  [[nodiscard]] double acceptance(TextSource source, std::int32_t match, std::int32_t place) const;

 private:
  /// A guess whose tokens were correct so far.
  struct Open {
    TextSource source = TextSource::lookup;
    std::int32_t match = 0;
    std::int32_t begin = 0;   // begin of its tokens: in the text, or in ring_
    std::int32_t length = 0;  // maximum length
    std::int32_t place = 0;   // place of the token that comes next
  };

  static std::size_t index(TextSource source) { return static_cast<std::size_t>(source); }
  [[nodiscard]] static std::size_t cell(TextSource source, std::int32_t match, std::int32_t place);
  void score(std::span<const std::int32_t> text, std::int32_t token);
  void open_lookup();
  void open_suffix(std::span<const std::int32_t> text);

  std::int32_t max_length_;
  SuffixAutomaton automaton_;
  SuffixDecoding suffix_;
  FadingCounts counts_;
  std::vector<Open> open_;
  std::array<Open, sources.size()> latest_;
  std::vector<std::int32_t> ring_;  // [max_length][max_length]: the latest guesses of `suffix`
  std::int32_t seen_ = 0;           // tokens of the text
};

}  // namespace draftscope::speculation
