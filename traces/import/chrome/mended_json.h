// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON as programs write it that do not escape their texts, made into JSON that a parser takes: profilers put
// names of any bytes, commas after the last element, and Python's NaN and Infinity into their traces.

#include <cstdint>
#include <streambuf>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// A buffer over another one. In strings, control characters become blanks, and bytes and escapes that are no
/// Unicode become '?'. Outside, NaN, infinities and too large numbers become an empty text, and a comma
/// before a bracket is left out. Memory: a block.
class MendedJson : public std::streambuf {
 public:
  explicit MendedJson(std::streambuf& from) : from_(from) {}

  /// Number of places that were mended.
  [[nodiscard]] std::int64_t places() const { return places_; }
  /// Byte of the first place, from 1.
  [[nodiscard]] std::int64_t first_place() const { return first_place_; }

 protected:
  int_type underflow() override;

 private:
  [[nodiscard]] int take();
  void mend(std::string_view text);
  void take_in_string(int byte);
  void take_escape();
  void take_sequence(unsigned char lead);
  void take_outside(int byte);
  void end_word();

  std::streambuf& from_;
  std::string block_;
  std::string word_;  // A number or a word outside of strings, as far as it was read.
  bool in_string_ = false;
  bool has_comma_ = false;  // Held back until the byte after it is known.
  std::int64_t taken_ = 0;
  std::int64_t places_ = 0;
  std::int64_t first_place_ = 0;
};

}  // namespace draftscope::traces
