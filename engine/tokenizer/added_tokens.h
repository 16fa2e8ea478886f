// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tokens that are found in the text before it is split into pieces: special tokens and other whole strings.

#include <draftscope/base/result.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/read_json.h"
#include "tokenizer/split/normalizer.h"
#include "tokenizer/split/pattern.h"
#include "tokenizer/step_budget.h"

namespace draftscope::engine::tokenizer {

struct AddedToken {
  std::int32_t id;
  std::string content;
  bool special;
  bool single_word;  ///< whether matches within a word are excluded
  bool lstrip;       ///< whether it includes the white space before it
  bool rstrip;       ///< whether it includes the white space after it
  bool normalized;   ///< whether it is found in the normalized text; otherwise in the original
};

[[nodiscard]] Result<std::vector<AddedToken>> parse_added_tokens(const JsonField& field);

/// A stretch of text, or an added token in its place.
struct Segment {
  static constexpr std::int32_t text = -1;
  Range range;
  std::int32_t token;  ///< the added token, or Segment::text
};

/// Finds strings in a text: the leftmost first, and at each place the longest.
class AddedTokenFinder {
 public:
  /// Errors: more than 8 MiB of spellings.
  [[nodiscard]] Result<void> add(std::string_view spelling, const AddedToken& token);
  /// Errors: the budget is spent.
  [[nodiscard]] Result<std::vector<Segment>> segments(std::string_view text, bool find_special,
                                                      StepBudget& budget) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children;
    std::int32_t entry = -1;
  };
  struct Match {
    std::int32_t entry;
    std::size_t length;
    std::size_t read_bytes;
  };

  [[nodiscard]] Match longest_match(std::string_view text) const;

  std::vector<AddedToken> entries_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // a trie of bytes; the first node is the root
};

}  // namespace draftscope::engine::tokenizer
