// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope tune`: searches a strategy for a model, a machine and prompts, and writes a policy.
/// `command_line` goes into the policy.
void add_tune_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
