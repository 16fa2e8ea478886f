// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A prediction against the recording that was made to check it.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string>
#include <vector>

#include <draftscope/simulator/prediction/prediction_file.h>

namespace draftscope::simulator {

/// A prediction that this recording says nothing about.
struct Unmeasured {
  std::string strategy;
  std::string machine;
  std::string reason;
};

struct PredictionScore {
  std::int64_t measured_realtime_ns = 0;  ///< when the recording began
  bool recorded_for_it = false;           ///< the trace names this prediction
  std::vector<std::string> differences;   ///< in what the experiment is not the predicted one, a line each
  std::vector<CheckedAnswer> answers;     ///< `held_out` is the machine's name
  std::vector<Unmeasured> unmeasured;
};

/// Errors: a recording without a start time, begun before the prediction was written, or made for another
/// one; without a vanilla run; nothing of what was predicted.
[[nodiscard]] Result<PredictionScore> score_prediction(const PredictionFile& prediction,
                                                       const traces::Recording& measured);

}  // namespace draftscope::simulator
