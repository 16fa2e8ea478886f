// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/profiler/device_trace.h>

namespace draftscope::profiler {

std::string_view device_trace_mode_name(DeviceTraceMode mode) {
  switch (mode) {
    case DeviceTraceMode::off:
      return "off";
    case DeviceTraceMode::graph:
      return "graph";
    case DeviceTraceMode::node:
      return "node";
  }
  return "unknown";
}

Result<DeviceTraceMode> parse_device_trace_mode(std::string_view name) {
  for (const auto mode : {DeviceTraceMode::off, DeviceTraceMode::graph, DeviceTraceMode::node})
    if (name == device_trace_mode_name(mode)) return mode;
  return fail("device trace: mode is '{}', expected off, graph or node", name);
}

}  // namespace draftscope::profiler
