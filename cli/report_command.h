// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope report FILE`: the measured figures of a recording.

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

void add_report_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
