// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `simulate --write`: the answers as a trace.

#include <draftscope/simulator/answers/predicted_trace.h>
#include <string>

#include "options/machine_options.h"

namespace draftscope::cli {

/// Errors: several machines, of which a trace, with its one vanilla run, can only have one.
[[nodiscard]] Result<void> check_write(const SimulateOptions& options,
                                       const std::vector<simulator::Machine>& machines);

/// Writes the answers as a trace; a strategy without one is left out. Errors name the option.
[[nodiscard]] Result<void> write_answers(const SimulateOptions& options, const simulator::WhatIf& what_if,
                                         const traces::Recording& recording, simulator::PredictedTrace trace);

}  // namespace draftscope::cli
