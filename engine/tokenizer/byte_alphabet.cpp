// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/byte_alphabet.h"

#include <array>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

struct Alphabet {
  std::array<std::string, 256> character_of_byte;
  // Code points 0 to 0x143 are enough, since 68 bytes are moved to 0x100 and up. -1 = not in the alphabet.
  std::array<std::int16_t, 0x144> byte_of_code_point;

  Alphabet() {
    byte_of_code_point.fill(-1);
    char32_t next_moved = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      const char32_t code_point = printable ? byte : next_moved++;
      append_utf8(character_of_byte.at(byte), code_point);
      byte_of_code_point.at(code_point) = static_cast<std::int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

void append_byte_characters(std::string_view bytes, std::string& mapped) {
  const auto& characters = alphabet().character_of_byte;
  for (const char byte : bytes) mapped += characters[static_cast<unsigned char>(byte)];
}

std::string bytes_of_piece(std::string_view piece) {
  const auto& byte_of = alphabet().byte_of_code_point;
  std::string bytes;
  for (std::size_t at = 0; at < piece.size();) {
    const Utf8Scan scan = scan_utf8(piece.substr(at));
    if (scan.status != Utf8Status::complete || scan.code_point >= byte_of.size() ||
        byte_of[scan.code_point] < 0)
      return std::string(piece);
    bytes += static_cast<char>(byte_of[scan.code_point]);
    at += scan.length;
  }
  return bytes;
}

}  // namespace draftscope::engine::tokenizer
