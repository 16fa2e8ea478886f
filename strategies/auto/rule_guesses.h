// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Guesses that follow from the text alone, with how often they are right. What would have been guessed at any
// position of the output is known whether or not it was verified, so every token scores every guess that was
// open before it: nothing has to be tried out.
//
// Two sources guess side by side, each scored for itself. Tokens are counted by the length of the text's end
// that the guess continues and by their place in the guess, given that those before were right.

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

/// Where a guess of what follows a text comes from.
enum class TextSource : std::uint8_t {
  lookup,  ///< the leftmost occurrence of the longest end of the text that occurred before
           ///< (strategies/suffix-decoding/rule_automaton.h)
  suffix,  ///< what followed ends of the text most often, in this request or in earlier outputs
           ///< (strategies/suffix-decoding/rule.h)
};
[[nodiscard]] std::string_view text_source_name(TextSource source);

class TextGuesses {
 public:
  /// `max_length`: tokens of the longest guess.
  explicit TextGuesses(std::int32_t max_length);

  static constexpr std::array<TextSource, 2> sources{TextSource::lookup, TextSource::suffix};

  /// Forgets the text, but neither how often guesses were right nor the outputs of requests before.
  void begin_request(std::span<const std::int32_t> prompt, std::size_t tokens);
  /// `text` is the text so far with tokens appended. It is not kept.
  void extend(std::span<const std::int32_t> text);

  /// Tokens of the text's end that the guess continues; 0 = there is no guess.
  [[nodiscard]] std::int32_t match(TextSource source) const { return latest_[index(source)].match; }
  /// The guess behind `text`, as it was last extended to: valid until it is extended again, and as long as
  /// `text` is.
  [[nodiscard]] std::span<const std::int32_t> guess(std::span<const std::int32_t> text,
                                                    TextSource source) const;
  /// Probability that the guess's token at this place is right, given that those before are.
  [[nodiscard]] double acceptance(TextSource source, std::int32_t place) const {
    return acceptance(source, match(source), place);
  }
  [[nodiscard]] double acceptance(TextSource source, std::int32_t match, std::int32_t place) const;

 private:
  /// A guess whose tokens were right so far.
  struct Open {
    TextSource source = TextSource::lookup;
    std::int32_t match = 0;
    std::int32_t begin = 0;   // of its tokens: in the text, or in ring_
    std::int32_t length = 0;  // at most
    std::int32_t place = 0;   // of the token that comes next
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
