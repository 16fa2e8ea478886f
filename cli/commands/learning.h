// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Learning from a recording as the options say: on which GPU it was made, and of an imported one, which can't
// tell them, the model and the GPU whose specification prices it. And whether the prompts that are asked
// about are like those that were learnt from.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>

#include "options/machine_options.h"

namespace draftscope::cli {

/// `recording` must outlive the result. Errors name the file: a --recorded-gpu that is not known; a
/// prediction; an imported timeline, which has no accepted lengths; an imported recording without --gpu, or
/// of a model that neither --model nor the file names; else those of WhatIf::learn.
[[nodiscard]] Result<simulator::WhatIf> learn_from(const SimulateOptions& options, traces::Reader& reader,
                                                   const traces::Recording& recording);

/// How the prompts of --prompts differ from the recorded ones, one line; none without the option, or where
/// they are of the same kind. Errors: those of traces::read_questions() and simulator::compare_prompts(),
/// with the file.
[[nodiscard]] Result<std::optional<std::string>> other_kind_of_texts(const SimulateOptions& options,
                                                                     const traces::Recording& recording);

}  // namespace draftscope::cli
