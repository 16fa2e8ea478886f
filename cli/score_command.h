// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope score`: a prediction against its measurement.
void add_score_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
