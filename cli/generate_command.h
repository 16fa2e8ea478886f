// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope generate`: streams text, accepted, rejected and bonus tokens told apart by colour on a
/// terminal.
void add_generate_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
