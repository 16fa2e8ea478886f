// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/chrome/mended_json.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace draftscope::traces {
namespace {

constexpr std::size_t mended_block_bytes = std::size_t{1} << 16U;
constexpr std::size_t max_word_bytes = 64;  // A longer number goes to the parser in pieces.

bool is_word_byte(int byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         byte == '+' || byte == '-' || byte == '.';
}

/// Bytes of the UTF-8 sequence that begins with this one; 0 = none does.
std::size_t sequence_bytes(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/// Whether the second byte makes the sequence neither overlong, a surrogate, nor beyond Unicode.
bool may_follow(unsigned char lead, unsigned char second) {
  if (second < 0x80 || second > 0xBF) return false;
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  return lead != 0xF4 || second <= 0x8F;
}

/// The value of four hexadecimal digits.
std::optional<unsigned> code_unit(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

int MendedJson::take() {
  const int byte = from_.sbumpc();
  if (byte != traits_type::eof()) ++taken_;
  return byte;
}

void MendedJson::mend(std::string_view text) {
  block_ += text;
  if (places_++ == 0) first_place_ = taken_;
}

MendedJson::int_type MendedJson::underflow() {
  block_.clear();
  while (block_.size() < mended_block_bytes) {
    const int byte = take();
    if (byte == traits_type::eof()) {
      end_word();
      break;
    }
    if (in_string_)
      take_in_string(byte);
    else
      take_outside(byte);
  }
  if (block_.empty()) return traits_type::eof();
  setg(block_.data(), block_.data(), block_.data() + block_.size());
  return traits_type::to_int_type(block_.front());
}

void MendedJson::take_in_string(int byte) {
  if (byte == '\\') return take_escape();
  if (byte >= 0x80) return take_sequence(static_cast<unsigned char>(byte));
  if (byte < 0x20) return mend(" ");
  if (byte == '"') in_string_ = false;
  block_ += static_cast<char>(byte);
}

void MendedJson::take_sequence(unsigned char lead) {
  std::string sequence(1, static_cast<char>(lead));
  const std::size_t bytes = sequence_bytes(lead);
  while (sequence.size() < bytes) {
    const int next = from_.sgetc();
    if (next == traits_type::eof()) break;
    const auto byte = static_cast<unsigned char>(next);
    if (sequence.size() == 1 ? !may_follow(lead, byte) : (byte & 0xC0U) != 0x80U) break;
    sequence += static_cast<char>(take());
  }
  if (bytes > 0 && sequence.size() == bytes)
    block_ += sequence;
  else
    mend("?");
}

/// Takes an escape. A half of a surrogate pair alone, and what is no escape, is mended.
void MendedJson::take_escape() {
  std::string high;
  while (true) {
    const int kind = take();
    constexpr std::string_view simple = "\"\\/bfnrt";
    if (kind != 'u') {
      if (!high.empty()) mend("?");
      if (kind == traits_type::eof()) return;
      if (simple.find(static_cast<char>(kind)) != std::string_view::npos) {
        block_ += '\\';
        block_ += static_cast<char>(kind);
      } else {
        mend("?");
        take_in_string(kind);
      }
      return;
    }
    std::string digits;
    while (digits.size() < 4 && from_.sgetc() != traits_type::eof() && from_.sgetc() != '"' &&
           from_.sgetc() != '\\')
      digits += static_cast<char>(take());
    const std::optional<unsigned> unit = code_unit(digits);
    const bool is_low = unit && *unit >= 0xDC00 && *unit <= 0xDFFF;
    const bool is_high = unit && *unit >= 0xD800 && *unit <= 0xDBFF;
    if (!high.empty() && is_low) {
      block_.append("\\u").append(high).append("\\u").append(digits);
      return;
    }
    if (!high.empty()) mend("?");
    if (!unit || is_low) return mend("?");
    if (!is_high) {
      block_ += "\\u" + digits;
      return;
    }
    high = digits;
    if (from_.sgetc() != '\\') return mend("?");
    static_cast<void>(take());
  }
}

void MendedJson::take_outside(int byte) {
  const bool is_blank = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
  if (has_comma_ && !is_blank) {
    has_comma_ = false;
    if (byte == ']' || byte == '}')
      mend("");
    else
      block_ += ',';
  }
  if (is_word_byte(byte)) {
    word_ += static_cast<char>(byte);
    if (word_.size() >= max_word_bytes) end_word();
    return;
  }
  end_word();
  if (byte == ',') {
    has_comma_ = true;
    return;
  }
  in_string_ = byte == '"';
  block_ += static_cast<char>(byte);
}

void MendedJson::end_word() {
  const std::string_view name = std::string_view(word_).substr(word_.starts_with('-') ? 1 : 0);
  double number = 0.0;
  const bool is_too_large =
      name.find_first_of("eE") != std::string_view::npos &&
      std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc::result_out_of_range;
  if (is_too_large || name == "NaN" || name == "nan" || name == "Infinity" || name == "inf")
    mend(R"("")");
  else
    block_ += word_;
  word_.clear();
}

}  // namespace draftscope::traces
