// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Refuses options that the asked work reads nothing of, in one line that names the option and the work.
//
// Work is what the command line asks for, as text: options, each with a value or without. "--waterfall";
// "--search grid"; "--ladder --json" for both at once; "--sweep gpu=" for any value that begins so. An option
// that is not given has its default value.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace draftscope::cli {

/// Refuses each of `options` with this work. Each may have a value, as in a work, which alone is refused.
/// `expected` ends the line: "it only with --search grid". The command must have all options that are named.
void unread_with(CLI::App& command, const std::string& work, const std::vector<std::string>& options,
                 const std::string& expected = "one of them");

/// Refuses each of `options` without any of these works. The command must have all options that are named.
void read_only_with(CLI::App& command, const std::vector<std::string>& works,
                    const std::vector<std::string>& options);

}  // namespace draftscope::cli
