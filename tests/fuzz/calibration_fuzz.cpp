// SPDX-License-Identifier: GPL-3.0-or-later
// Input: a calibration. Any input is read or refused in one line. A calibration that was read is the same
// after writing and reading again. It prices every shape that it has, or gives the reason why it can't.

#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/calibration.h>

#include <cstdint>

#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  using namespace draftscope::fuzz;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto calibration = simulator::parse_calibration(input, "input");
  require_value_or_line(calibration);
  if (!calibration) return 0;
  const std::string written = simulator::calibration_json(*calibration);
  const auto again = simulator::parse_calibration(written, "written");
  require(again.has_value(), again ? "" : again.error().message);
  require(simulator::calibration_json(*again) == written, "written twice as two things");
  const simulator::CalibratedMachine machine(*calibration);
  for (const simulator::CalibratedShape& shape : calibration->shapes)
    require_value_or_line(machine.costs(shape.shape, shape.weights));
  return 0;
}
