// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/calibration.h>
#include <string>

namespace draftscope::cli {

/// What `draftscope calibrate -o` wrote. Errors: as parse_calibration(), or a file that can't be read.
[[nodiscard]] Result<simulator::MachineCalibration> read_calibration(const std::string& path);

}  // namespace draftscope::cli
