// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope validate`: how far the simulator's predictions are from results. One mode a call, one file
/// pair a mode (validate_<mode>.h).
void add_validate_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
