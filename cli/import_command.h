// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope import FILE…`: others' recordings as a trace.

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

void add_import_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
