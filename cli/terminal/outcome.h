// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The end of a command. Each command file offers `void add_<name>_command(CLI::App&, Outcome&)`; its callback
// does the work and leaves the exit code here.

#include <draftscope/base/result.h>
#include <string_view>

namespace draftscope::cli {

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
