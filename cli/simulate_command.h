// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope simulate`: what another strategy, machine or model would have given on a recorded text.
void add_simulate_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
