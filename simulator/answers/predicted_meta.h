// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/answers/predicted_trace.h>

namespace draftscope::simulator {

/// Whether passes belong to the recorded machine and model, without additional context.
[[nodiscard]] bool is_as_recorded(const WhatIf& what_if, const PredictedTrace& trace);

/// Meta of a predicted trace: the recording's sampling, the asked machine and model, and the source of the
/// predictions.
[[nodiscard]] traces::Meta predicted_meta(const WhatIf& what_if, const traces::Recording& recording,
                                          const PredictedTrace& trace);

}  // namespace draftscope::simulator
