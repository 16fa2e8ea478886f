// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// GPT-2's printable alphabet for bytes: printable Latin-1 bytes represent themselves, the other 68 have the
// code points from U+0100 on, in order.

#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::engine::tokenizer {

/// Appends each byte's character to `mapped`.
void append_byte_characters(std::string_view bytes, std::string& mapped);
/// The bytes that a piece's characters represent; a piece with any other character is returned unchanged.
[[nodiscard]] std::string bytes_of_piece(std::string_view piece);

}  // namespace draftscope::engine::tokenizer
