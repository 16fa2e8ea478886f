// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Learns from a recording as the options say. They name the GPU that it was made on; for an imported
// recording, also the model and the GPU whose specification gives the costs. Also checks whether the asked
// prompts resemble the recorded ones.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>

#include "options/machine_options.h"

namespace draftscope::cli {

/// Learns from `recording`, which must outlive the result. Errors name the file: an unknown --recorded-gpu; a
/// prediction; an imported timeline, which has no accepted lengths; an imported recording without --gpu or
/// --calibration, or whose model neither --model nor the file names; else those of WhatIf::train.
[[nodiscard]] Result<simulator::WhatIf> learn_from(const SimulateOptions& options, traces::Reader& reader,
                                                   const traces::Recording& recording);

/// How the prompts of --prompts differ from the recorded ones, in one line; none without the option, or if
/// they are of the same kind. Errors: those of traces::read_questions() and simulator::compare_prompts(),
/// with the file.
[[nodiscard]] Result<std::optional<std::string>> other_kind_of_texts(const SimulateOptions& options,
                                                                     const traces::Recording& recording);

}  // namespace draftscope::cli
