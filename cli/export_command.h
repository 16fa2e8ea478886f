// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope export FILE --to FORMAT`: a trace in another tool's format.

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

void add_export_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
