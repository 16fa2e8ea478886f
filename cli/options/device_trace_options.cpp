// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/device_trace_options.h"

#include "options/numbers.h"
#include "options/one_of.h"

namespace draftscope::cli {

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options) {
  command
      .add_option("--device-trace", options.mode,
                  "On a GPU: graph = a row a graph launch (cheap), node = every kernel; auto = graph there")
      ->check(one_of({"auto", "off", "graph", "node"}))
      ->capture_default_str();
  add_number(command, "--node-requests", options.node_requests,
             "With --device-trace node: requests of each strategy that it records; 0 = all", {.min = 0})
      ->capture_default_str();
}

}  // namespace draftscope::cli
