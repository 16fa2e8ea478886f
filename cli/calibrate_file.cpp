// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibrate_file.h"

#include "text_file.h"

namespace draftscope::cli {

Result<simulator::MachineCalibration> read_calibration(const std::string& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path));
  return simulator::parse_calibration(text, path);
}

}  // namespace draftscope::cli
