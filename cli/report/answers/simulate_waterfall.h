// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope simulate --waterfall`: the speed that was possible on these texts, level by level, and where it
// was lost.

#include <draftscope/simulator/answers/recording_waterfall.h>
#include <functional>
#include <string>
#include <vector>

#include "options/machine_options.h"
#include "report/answers/simulate_text.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct MachineWaterfall {
  std::string machine;
  std::int32_t batch = 1;
  simulator::RecordingWaterfall found;
};

struct Waterfalls {
  const traces::Recording* recording = nullptr;
  std::vector<MachineWaterfall> machines;
  std::vector<Refusal> refusals;
};

/// Makes the waterfalls on every machine; strategies and machines without an answer become refusals. Errors:
/// those of recording_waterfall(), if no machine has an answer. `progress` counts machines.
[[nodiscard]] Result<Waterfalls> make_waterfalls(const simulator::WhatIf& what_if,
                                                 const traces::Recording& recording,
                                                 const std::vector<std::string>& strategies,
                                                 const std::vector<simulator::Machine>& machines,
                                                 std::int32_t longer_context,
                                                 const std::function<void(std::int64_t)>& progress);

[[nodiscard]] std::string waterfall_text(const Waterfalls& waterfalls, bool quiet, const Glyphs& glyphs);
[[nodiscard]] std::string waterfall_json(const Waterfalls& waterfalls);

}  // namespace draftscope::cli
