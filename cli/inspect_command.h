// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope inspect FILE`: what a trace holds, and whether it is sound.

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

void add_inspect_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
