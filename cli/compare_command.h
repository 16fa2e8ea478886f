// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope compare FILE…`: runs of one recording, or recordings, side by side.

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

void add_compare_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
