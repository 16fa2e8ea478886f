// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include "outcome.h"

namespace draftscope::cli {

/// `draftscope calibrate`: measures what decides decoding speed on this machine, for `simulate --calibration`
/// elsewhere; with --suggest, says what to measure next.
void add_calibrate_command(CLI::App& app, Outcome& outcome);

}  // namespace draftscope::cli
