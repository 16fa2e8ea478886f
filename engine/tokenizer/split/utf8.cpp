// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/split/utf8.h"

#include <utf8proc.h>

#include <array>

namespace draftscope::engine::tokenizer {
namespace {

struct LeadByte {
  std::size_t length;           // 0: no character starts with this byte
  unsigned char second_lowest;  // the second byte's range excludes overlong forms and surrogates
  unsigned char second_highest;
};

LeadByte lead_byte(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Scan scan_utf8(std::string_view text) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const LeadByte lead = lead_byte(byte_at(0));
  if (lead.length == 0) return {Utf8Status::invalid, 1, 0};
  if (lead.length == 1) return {Utf8Status::complete, 1, byte_at(0)};
  // The lead byte of an n-byte character has 7 - n bits of it, every other byte six.
  char32_t code_point = byte_at(0) & (0xFFU >> (lead.length + 1));
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {Utf8Status::truncated, i, 0};
    const unsigned char lowest = i == 1 ? lead.second_lowest : 0x80;
    const unsigned char highest = i == 1 ? lead.second_highest : 0xBF;
    if (byte_at(i) < lowest || byte_at(i) > highest) return {Utf8Status::invalid, i, 0};
    code_point = (code_point << 6U) | (byte_at(i) & 0x3FU);
  }
  return {Utf8Status::complete, lead.length, code_point};
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Scan scan = scan_utf8(text.substr(at));
    if (scan.status != Utf8Status::complete) return at;
    at += scan.length;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, char32_t code_point) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes.data());
  text.append(bytes.begin(), bytes.begin() + size);
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_numeric(char32_t code_point) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

bool is_word(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  // Circled and squared letters are symbols that Unicode calls Alphabetic; the joiners are Join_Control.
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189) || c == 0x200C || c == 0x200D;
}

void Utf8Joiner::feed(std::string_view bytes, std::string& output) {
  waiting_ += bytes;
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const Utf8Scan scan = scan_utf8(rest);
    if (scan.status == Utf8Status::truncated) break;
    output += scan.status == Utf8Status::complete ? rest.substr(0, scan.length) : replacement_character;
    rest.remove_prefix(scan.length);
  }
  waiting_.erase(0, waiting_.size() - rest.size());
}

void Utf8Joiner::finish(std::string& output) {
  if (!waiting_.empty()) output += replacement_character;
  waiting_.clear();
}

}  // namespace draftscope::engine::tokenizer
