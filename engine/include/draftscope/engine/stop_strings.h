// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Strings that end a text: decoding stops with the token that completes one, and the output ends before it.
// The search runs over the decoded text, so that boundaries of tokens and rounds do not matter.
//
// Thread-safety: none.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

using StopStrings = std::vector<std::string>;

/// Fails on an empty string and on one that is not UTF-8.
[[nodiscard]] Result<void> check_stop_strings(const StopStrings& strings);

/// The text before the first occurrence of any of the strings; all of it if there is none.
[[nodiscard]] std::string_view before_stop(std::string_view text, const StopStrings& strings);

/// Looks for the strings in a text that arrives in pieces.
class StopSearch {
 public:
  explicit StopSearch(StopStrings strings) : strings_(std::move(strings)) {}

  /// Takes the text's next piece, unless a string has been found. Returns whether one has been found by now.
  bool add(std::string_view piece);
  [[nodiscard]] bool found() const { return found_; }
  /// Number of leading bytes that belong to the output whatever follows: those before a found string, or
  /// before a possible beginning of one.
  [[nodiscard]] std::size_t settled_bytes() const { return settled_; }
  /// Ends the text: held-back bytes now belong to the output.
  void end();

 private:
  StopStrings strings_;
  std::string waiting_;  // text after the settled bytes
  std::size_t settled_ = 0;
  bool found_ = false;
};

/// Tells for each token of an output whether the text ends with it.
class TextEnd {
 public:
  TextEnd(const Tokenizer& tokenizer, StopStrings strings);
  /// Begins a new output.
  void begin();
  /// Adds the next token; returns whether the text now contains one of the strings.
  [[nodiscard]] bool add(std::int32_t token);

 private:
  Tokenizer tokenizer_;
  StopStrings strings_;
  StreamDecoder decoder_;
  StopSearch search_;
};

}  // namespace draftscope::engine
