// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibrate_file.h"

#include <fstream>
#include <iterator>

namespace draftscope::cli {

Result<simulator::MachineCalibration> read_calibration(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail("{}: can't be read", path);
  return simulator::parse_calibration(text, path);
}

}  // namespace draftscope::cli
