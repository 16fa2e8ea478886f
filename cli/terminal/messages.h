// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one way to stderr. Nothing here throws or allocates, so that a message gets out when memory has run
// out, and a stderr that is closed or full ends no command. Thread-safe line by line.

#include <string_view>

namespace draftscope::cli {

/// Maximum bytes of one message; what is longer is cut and ends in "…".
inline constexpr std::size_t max_message_bytes = 1000;

/// Prints "draftscope: <message>" as one line. Control characters, bytes that are no UTF-8 and characters
/// that turn the writing direction come out as \xNN: text of a file can't steer the terminal or fake a line.
void print_error(std::string_view message) noexcept;

/// The same without the program's name: what a command says besides its output.
void print_note(std::string_view note) noexcept;

/// Bytes for a terminal as they are, escape sequences and all: only what this program made up itself.
void draw(std::string_view bytes) noexcept;

}  // namespace draftscope::cli
