// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Strings that end a text: decoding stops with the token that completes one, and the output ends before it.
// They are looked for in the decoded text, so that it does not matter how tokens or rounds cut it.
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

/// The text up to where the first of the strings begins that it holds; all of it without one.
[[nodiscard]] std::string_view before_stop(std::string_view text, const StopStrings& strings);

/// Looks for the strings in a text that comes in pieces.
class StopSearch {
 public:
  explicit StopSearch(StopStrings strings) : strings_(std::move(strings)) {}

  /// Takes the text's next piece, unless a string has been found. Returns whether one has been by now.
  bool add(std::string_view piece);
  [[nodiscard]] bool found() const { return found_; }
  /// Bytes from the text's start that are the output's whatever follows: those before a found string, or
  /// before what may be the start of one.
  [[nodiscard]] std::size_t settled_bytes() const { return settled_; }
  /// Nothing follows: what waited is the output's.
  void end();

 private:
  StopStrings strings_;
  std::string waiting_;  // after the settled bytes
  std::size_t settled_ = 0;
  bool found_ = false;
};

/// Says of each token of an output whether the text ends with it.
class TextEnd {
 public:
  TextEnd(const Tokenizer& tokenizer, StopStrings strings);
  /// A new output begins.
  void begin();
  /// Whether the text holds one of the strings, with this token after the others.
  [[nodiscard]] bool add(std::int32_t token);

 private:
  Tokenizer tokenizer_;
  StopStrings strings_;
  StreamDecoder decoder_;
  StopSearch search_;
};

}  // namespace draftscope::engine
