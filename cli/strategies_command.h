// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope strategies`: every strategy with its parameters, defaults, units and source.
void add_strategies_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
