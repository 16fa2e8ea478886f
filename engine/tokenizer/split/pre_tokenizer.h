// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Splits a text into the pieces within which BPE merges.

#include <draftscope/base/result.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tokenizer/read_json.h"
#include "tokenizer/split/pattern.h"
#include "tokenizer/step_budget.h"

namespace draftscope::engine::tokenizer {

/// Treatment of the text that a split pattern matches.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct Split {
  Pattern pattern;
  SplitBehavior behavior;
  bool invert;  ///< whether to split at the text that does not match
};
struct Digits {
  bool individual;
};
struct ByteLevel {
  bool add_prefix_space;
  std::optional<Pattern> words;  ///< GPT-2's split, if the step splits at all
};
struct Metaspace {
  enum class Prepend { always, first, never };
  std::string replacement;
  Prepend prepend;
  bool split;
};

using PreTokenizerStep = std::variant<Split, Digits, ByteLevel, Metaspace>;

/// Pieces as ranges of one text, none of them empty.
struct Pieces {
  std::string text;
  std::vector<Range> ranges;
  bool starts_input;  ///< whether the first range is the start of the caller's input

  [[nodiscard]] std::string_view piece(Range range) const {
    return std::string_view(text).substr(range.begin, range.end - range.begin);
  }
};

/// Makes a step that maps bytes to the byte alphabet, after GPT-2's split into words if `words`. `path` names
/// it in errors.
[[nodiscard]] Result<ByteLevel> make_byte_level(bool add_prefix_space, bool words, std::string_view path);

class PreTokenizer {
 public:
  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<PreTokenizerStep> steps) : steps_(std::move(steps)) {}
  [[nodiscard]] static Result<PreTokenizer> parse(const JsonField& field);
  [[nodiscard]] Result<Pieces> apply(std::string text, bool starts_input, StepBudget& budget) const;

 private:
  std::vector<PreTokenizerStep> steps_;
};

/// A stretch of a text, as a split sees it.
struct TextStretch {
  Range range;
  bool is_match;
};
/// Ranges that cover the stretches' text (except text that `removed` drops), in order; some may be empty.
[[nodiscard]] std::vector<Range> split_stretches(const std::vector<TextStretch>& stretches,
                                                 SplitBehavior behavior);

}  // namespace draftscope::engine::tokenizer
