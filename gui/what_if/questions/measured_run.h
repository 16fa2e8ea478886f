// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a recorded run measured, by the account of predictions: decoding alone, without the prefill. And what
// can be said where the two differ.

#include <draftscope/simulator/analysis/speedup.h>
#include <optional>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct WhatIfAnswer;

struct MeasuredRun {
  std::string strategy;
  double tokens_per_second = 0.0;  ///< after the first token
  double vanilla_tokens_per_second = 0.0;
  double speedup = 1.0;
  std::optional<simulator::Interval> interval_95;  ///< of the speedup, over prompts; absent with few
  // How uneven its rounds' and vanilla's times are: the 99th percentile / the median; 0 without rounds.
  double round_spread = 0.0;
  double vanilla_round_spread = 0.0;
};

/// One for each run that has a vanilla run on the same prompts, in the recording's order; vanilla itself is
/// none.
[[nodiscard]] std::vector<MeasuredRun> measured_runs(const OpenedRecording& opened);

/// Whether the measured speedup is outside the predicted 95 % interval, or 5 % off where there is none.
[[nodiscard]] bool differs(const WhatIfAnswer& answer, const MeasuredRun& measured);

/// One line: both speedups, by how much they differ, and, if they do, what that may come from.
[[nodiscard]] std::string beside_line(const WhatIfAnswer& answer, const MeasuredRun& measured);

}  // namespace draftscope::gui
