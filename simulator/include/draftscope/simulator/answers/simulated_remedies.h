// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Simulated answers to the settings that an explanation (explain.h) suggests.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>
#include <functional>
#include <string>

namespace draftscope::simulator {

/// Trains a WhatIf for simulated_remedies(). Errors: a predicted or imported recording, which has no times
/// that costs could be fitted to; those of WhatIf::train().
[[nodiscard]] Result<WhatIf> train_to_explain(traces::Reader& reader, const traces::Recording& recording);

/// A function for ExplainOptions::simulate. It answers for the recorded machine, with the slower of both
/// bounds.
[[nodiscard]] std::function<Result<SimulatedRemedy>(const std::string& strategy)> simulated_remedies(
    WhatIf what_if);

}  // namespace draftscope::simulator
