// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A calibration as people and programs read it.

#include <draftscope/simulator/calibration.h>
#include <draftscope/simulator/next_measurement.h>
#include <cstdint>
#include <string>
#include <vector>

#include "report_glyphs.h"

namespace draftscope::cli {

/// What to measure next for a question.
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
  CalibrationAdvice advice;
};

/// The advice for a shape of the calibration; `models` names another one. At most `most` measurements.
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
