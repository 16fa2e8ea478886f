// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope view [FILE…]`: starts the desktop app.

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

void add_view_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
