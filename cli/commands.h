// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every command of `draftscope`, in the order that its help lists them.

#include <CLI/CLI.hpp>
#include <string>

#include "outcome.h"

namespace draftscope::cli {

/// `command_line` is what a recording or a policy says of how it was made. `outcome` must outlive `app`.
void add_commands(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
