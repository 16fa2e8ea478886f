// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A calibration as text for a terminal and for programs.

#include <draftscope/simulator/prices/calibration.h>
#include <string>
#include <vector>

#include "terminal/glyphs.h"

namespace draftscope::cli {

struct CalibrationReport {
  const simulator::MachineCalibration* calibration = nullptr;
  std::string file;
  std::vector<simulator::LeaveOneOut> left_out;  ///< [shape]
};

[[nodiscard]] std::string calibration_text(const CalibrationReport& report, const Glyphs& glyphs);
[[nodiscard]] std::string calibration_report_json(const CalibrationReport& report);

}  // namespace draftscope::cli
