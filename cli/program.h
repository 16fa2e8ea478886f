// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The whole program without the setup of its process; tests call it as main() does.

#include <string>
#include <vector>

namespace draftscope::cli {

/// Runs `draftscope <arguments>`. Returns the exit code: 0, exit_failure, exit_usage for an invalid command
/// line, or 128 plus the number of a signal that ended it.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments);

}  // namespace draftscope::cli
