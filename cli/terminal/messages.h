// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Messages of a command, and its end. Functions that print to stderr neither throw nor allocate, so that
// messages work even without memory; a closed or full stderr ends no command. They are thread-safe per line.

#include <draftscope/base/result.h>

#include <string_view>

namespace draftscope::cli {

/// Max bytes of one message; a longer one is cut and ends in "…".
inline constexpr std::size_t max_message_bytes = 1000;

/// Prints "draftscope: <message>" as one line. Control characters, invalid UTF-8 and characters that change
/// the writing direction appear as \xNN, so that text of a file can't steer the terminal or fake a line.
void print_error(std::string_view message) noexcept;

/// Prints a note as one line on stderr, escaped as in print_error() but without the program's name.
void print_note(std::string_view note) noexcept;

/// Prints raw bytes to a terminal, including escape sequences; only for text that this program itself made.
void draw(std::string_view bytes) noexcept;

// Each command file offers `void add_<name>_command(CLI::App&, Outcome&)`, whose callback does the work and
// stores the exit code in the outcome.

inline constexpr int exit_failure = 1;
inline constexpr int exit_usage = 2;

struct Outcome {
  int exit_code = 0;
};

/// Prints the message on stderr; returns exit_failure.
int fail_with(const Error& error);

/// Stores the result of a command: its exit code, or prints its error.
void finish(Outcome& outcome, const Result<int>& result);

/// Writes to stdout and flushes, so that a full disk or a closed pipe is an error and not a silent loss.
[[nodiscard]] Result<void> write_out(std::string_view text);

/// Writes to stdout at the end of a command. Returns the exit code: exit_failure if not all was written.
/// Prints that error on stderr, except if the reader left, as `head` does.
[[nodiscard]] int print_out(std::string_view text);

}  // namespace draftscope::cli
