// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A calibration as people and programs read it.

#include <draftscope/simulator/prices/calibration.h>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// Kernels to measure next for a question.
struct CalibrationAdvice {
  simulator::RoundCostQuestion question;
  std::string model;
  double sigma = 0.0;                            ///< of ln(round / vanilla step), from the fit alone
  std::vector<simulator::NextMeasurement> next;  ///< the best first
};

struct CalibrationReport {
  const simulator::MachineCalibration* calibration = nullptr;
  std::string file;
  std::vector<simulator::LeaveOneOut> left_out;  ///< [shape]
  std::optional<CalibrationAdvice> advice;       ///< none for a model without exits
};

/// For a model that the calibration can price, at most `most` measurements. Errors: as fit_calibration() and
/// cost_gradient().
[[nodiscard]] Result<CalibrationAdvice> advise_measurement(const simulator::MachineCalibration& calibration,
                                                           const simulator::ModelShape& shape,
                                                           simulator::WeightType weights,
                                                           const simulator::RoundCostQuestion& question,
                                                           std::size_t most);

[[nodiscard]] std::string calibration_text(const CalibrationReport& report, const Glyphs& glyphs);
[[nodiscard]] std::string advice_text(const CalibrationAdvice& advice, const simulator::ModelShape& shape,
                                      const Glyphs& glyphs);
[[nodiscard]] std::string calibration_report_json(const CalibrationReport& report);
[[nodiscard]] std::string advice_json(const CalibrationAdvice& advice, const simulator::ModelShape& shape);

}  // namespace draftscope::cli
