// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// UTF-8 as Unicode 3.9 defines it (no surrogates, no overlong forms, nothing past U+10FFFF). Malformed bytes
// become U+FFFD by maximal subparts: each longest prefix of a valid character gives one replacement.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace draftscope::engine::tokenizer {

inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

enum class Utf8Status { complete, invalid, truncated };

struct Utf8Scan {
  Utf8Status status;
  std::size_t length;   ///< bytes of the character, or of the malformed prefix (at least 1)
  char32_t code_point;  ///< valid if complete
};

/// The character at the start of a non-empty text.
[[nodiscard]] Utf8Scan scan_utf8(std::string_view text);
/// The offset of the first byte that does not belong to a valid character.
[[nodiscard]] std::optional<std::size_t> first_invalid_utf8(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);

/// Whether it has Unicode's property White_Space.
[[nodiscard]] bool is_white_space(char32_t code_point);
/// Whether its general category is N (digits, letter numbers and other numbers).
[[nodiscard]] bool is_numeric(char32_t code_point);
/// Whether it is a word character: Alphabetic, M, Nd, Pc or Join_Control.
[[nodiscard]] bool is_word(char32_t code_point);

/// Joins bytes that arrive in pieces: complete characters are returned at once, an unfinished one is held
/// back.
class Utf8Joiner {
 public:
  void feed(std::string_view bytes, std::string& output);
  void finish(std::string& output);

 private:
  std::string waiting_;
};

}  // namespace draftscope::engine::tokenizer
