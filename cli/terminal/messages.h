// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a command says, and how it ends. The functions that print to stderr neither throw nor allocate, so
// that a message gets out when memory has run out, and a stderr that is closed or full ends no command. They
// are thread-safe line by line.

#include <draftscope/base/result.h>

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

// Each command file offers `void add_<name>_command(CLI::App&, Outcome&)`; its callback does the work and
// leaves the exit code in the outcome.

inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

struct Outcome {
  int exit_code = 0;
};

/// Prints the message on stderr; returns exit_failure.
int fail_with(const Error& error);

/// Takes what a command returned: its exit code, or the error to print.
void finish(Outcome& outcome, const Result<int>& result);

/// Writes to stdout and flushes, so that a full disk or a closed pipe is an error and not a silent loss.
[[nodiscard]] Result<void> write_out(std::string_view text);

/// The same as the end of a command. Returns the exit code: exit_failure if not all was written, said on
/// stderr but for a reader that left, as `head` does.
[[nodiscard]] int print_out(std::string_view text);

}  // namespace draftscope::cli
