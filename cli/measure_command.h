// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope measure`: records what a prediction is about. `command_line` goes into the trace's meta.
void add_measure_command(CLI::App& app, Outcome& outcome, const std::string& command_line);

}  // namespace draftscope::cli
