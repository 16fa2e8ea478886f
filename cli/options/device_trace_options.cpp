// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/device_trace_options.h"

namespace draftscope::cli {

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options) {
  command
      .add_option("--device-trace", options.mode,
                  "On a GPU: graph = a row a graph launch (cheap), node = every kernel; auto = graph there")
      ->check(CLI::IsMember({"auto", "off", "graph", "node"}))
      ->capture_default_str();
  command
      .add_option("--node-requests", options.node_requests,
                  "With --device-trace node: requests of each strategy that it records; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace draftscope::cli
