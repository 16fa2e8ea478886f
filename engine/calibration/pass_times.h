// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times single passes of a backend, from the call until the host has the best tokens, and on the CPU also the
// operations inside them.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/profiler/span_recorder.h>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "calibration/kernel_samples.h"

namespace draftscope::engine {

/// Token at a position; the tokens form no pattern that a model could favour.
[[nodiscard]] std::int32_t token_at(std::int32_t position, std::int32_t vocab);

class CalibrationPasses {
 public:
  /// The backend must outlive this object.
  explicit CalibrationPasses(Backend& backend);
  CalibrationPasses(const CalibrationPasses&) = delete;
  CalibrationPasses& operator=(const CalibrationPasses&) = delete;
  ~CalibrationPasses();

  /// Fills the first `rows` cache rows with computed values, since memory that was never written is read at a
  /// different speed.
  [[nodiscard]] Result<void> fill_cache(std::int32_t rows);

  /// Nanoseconds of a target pass over the sublayers of `form`: all of both kinds, all of one kind, or none.
  [[nodiscard]] Result<double> pass_ns(const speculation::KernelForm& form);
  /// Nanoseconds of a pass of one row without layers or head.
  [[nodiscard]] Result<double> empty_ns();
  /// Runs a target pass with its operations timed, and adds each operation's mean over the layers.
  [[nodiscard]] Result<void> time_operations(const speculation::KernelForm& form, KernelSamples& samples);

 private:
  [[nodiscard]] Result<double> time(const Batch& batch);
  void fill_rows(std::int32_t count, std::int32_t first);

  Backend& backend_;
  Outputs outputs_;
  std::vector<Row> rows_;
  std::vector<float> hidden_;
  profiler::SpanRecorder spans_;
  std::map<traces::StringId, speculation::Operation> operation_of_name_;
};

}  // namespace draftscope::engine
