// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/answers/predicted_trace.h>

namespace draftscope::simulator {

/// Whether passes are of the recorded machine and model, and nothing stands before the recorded context.
[[nodiscard]] bool is_as_recorded(const WhatIf& what_if, const PredictedTrace& trace);

/// The identity of a predicted trace: the recording's sampling, the asked machine and model, and where the
/// predictions come from.
[[nodiscard]] traces::Meta predicted_meta(const WhatIf& what_if, const traces::Recording& recording,
                                          const PredictedTrace& trace);

}  // namespace draftscope::simulator
