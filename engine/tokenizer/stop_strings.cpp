// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/stop_strings.h>

#include <draftscope/base/quote.h>

#include <algorithm>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine {

Result<void> check_stop_strings(const StopStrings& strings) {
  for (const std::string& string : strings) {
    if (string.empty()) return fail("stop: found an empty text, expected at least one character");
    if (tokenizer::first_invalid_utf8(string))
      return fail("stop: found {}, expected valid UTF-8", quote(string));
  }
  return {};
}

std::string_view before_stop(std::string_view text, const StopStrings& strings) {
  std::size_t end = text.size();
  for (const std::string& string : strings) end = std::min(end, text.find(string));
  return text.substr(0, end);
}

namespace {

/// Length of the longest end of `text` that is a proper beginning of `string`.
std::size_t started(std::string_view text, std::string_view string) {
  std::size_t length = std::min(text.size(), string.size() - 1);
  while (length > 0 && !text.ends_with(string.substr(0, length))) --length;
  return length;
}

}  // namespace

bool StopSearch::add(std::string_view piece) {
  if (found_) return true;
  waiting_ += piece;
  const std::size_t place = before_stop(waiting_, strings_).size();
  found_ = place < waiting_.size();
  std::size_t waits = 0;
  for (const std::string& string : strings_) waits = std::max(waits, started(waiting_, string));
  const std::size_t settled = found_ ? place : waiting_.size() - waits;
  settled_ += settled;
  waiting_.erase(0, settled);
  return found_;
}

void StopSearch::end() {
  if (found_) return;
  settled_ += waiting_.size();
  waiting_.clear();
}

TextEnd::TextEnd(const Tokenizer& tokenizer, StopStrings strings)
    : tokenizer_(tokenizer), strings_(std::move(strings)), decoder_(tokenizer_), search_(strings_) {}

void TextEnd::begin() {
  decoder_ = StreamDecoder(tokenizer_);
  search_ = StopSearch(strings_);
}

bool TextEnd::add(std::int32_t token) {
  return search_.add(decoder_.next(token));
}

}  // namespace draftscope::engine
