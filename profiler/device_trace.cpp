// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/profiler/device_trace.h>

namespace draftscope::profiler {

std::string_view device_trace_mode_name(DeviceTraceMode mode) {
  switch (mode) {
    case DeviceTraceMode::off:
      return "off";
    case DeviceTraceMode::launches:
      return "launches";
    case DeviceTraceMode::operations:
      return "operations";
  }
  return "unknown";
}

Result<DeviceTraceMode> parse_device_trace_mode(std::string_view name) {
  for (const auto mode : {DeviceTraceMode::off, DeviceTraceMode::launches, DeviceTraceMode::operations})
    if (name == device_trace_mode_name(mode)) return mode;
  return fail("device trace: mode is '{}', expected off, launches or operations", name);
}

}  // namespace draftscope::profiler
