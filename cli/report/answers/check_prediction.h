// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A prediction (prediction_file.h) compared with the recording that was made to check it.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <optional>
#include <string>
#include <vector>

#include "report/answers/prediction_file.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct MeasuredAnswer {
  WrittenAnswer predicted;
  simulator::MeasuredDecoding measured;

  [[nodiscard]] std::optional<double> error() const {
    return simulator::relative_error(predicted.speedup, measured.speedup);
  }
  /// Whether the measured speedup lies in the predicted interval; absent if there is no interval.
  [[nodiscard]] std::optional<bool> inside_80() const;
  [[nodiscard]] std::optional<bool> inside_95() const;
  /// Meaning of the comparison, in one sentence.
  [[nodiscard]] std::string meaning() const;
};

struct PredictionCheck {
  std::string file;                       ///< Name of the recording that was measured.
  std::int64_t measured_realtime_ns = 0;  ///< Start of the recording.
  std::vector<std::string> differences;   ///< Differences from the predicted experiment, one per line.
  std::vector<MeasuredAnswer> answers;
  std::vector<Refusal> unmeasured;  ///< Questions about which the recording has no data, with the reason.
};

/// Errors: a recording without a start time, or begun before the prediction was written; without a vanilla
/// run; without anything that was predicted.
[[nodiscard]] Result<PredictionCheck> check_prediction(const PredictionFile& prediction,
                                                       const traces::Recording& measured);

[[nodiscard]] std::string check_text(const PredictionFile& prediction, const PredictionCheck& check,
                                     bool quiet, const Glyphs& glyphs);
[[nodiscard]] std::string check_json(const PredictionFile& prediction, const PredictionCheck& check);

}  // namespace draftscope::cli
