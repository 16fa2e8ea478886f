// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope advise`: what to set on a machine, or not to speculate.

#include <CLI/CLI.hpp>
#include <string>

#include "outcome.h"

namespace draftscope::cli {

/// `command_line` is kept in the policy that -o writes.
void add_advise_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
