// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope predict`: writes down what the simulator says, before anybody measures it. `command_line` goes
/// into the file.
void add_predict_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
