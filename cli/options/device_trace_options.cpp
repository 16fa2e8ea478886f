// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/device_trace_options.h"

#include "options/numbers.h"

namespace draftscope::cli {

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options) {
  command
      .add_option(
          "--device-trace", options.mode,
          "On a GPU: launches = a row a launch, by CUPTI; operations = beside them a row an operation of a "
          "program, timed by the device itself; auto = launches there")
      ->check(one_of({"auto", "off", "launches", "operations"}))
      ->capture_default_str();
}

}  // namespace draftscope::cli
