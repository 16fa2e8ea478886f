// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The waterfall to the oracle on a question's machine, with the question's strategy beside it, as `draftscope
// simulate --waterfall` prints it.

#include <draftscope/simulator/answers/recording_waterfall.h>
#include <cstdint>
#include <functional>

#include "what_if/questions/trained_recording.h"
#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

struct WaterfallLevels {
  std::string machine;
  std::int32_t batch = 1;
  simulator::RecordingWaterfall found;
};

/// Levels of the waterfall; they lack the strategy's share if the question was refused. `progress` is as in
/// WaterfallOptions. Errors: those of recording_waterfall().
[[nodiscard]] Result<WaterfallLevels> waterfall_of(
    const TrainedRecording& trained, const WhatIfAnswer& answer,
    const std::function<bool(std::int64_t, std::int64_t)>& progress = {});

}  // namespace draftscope::gui
