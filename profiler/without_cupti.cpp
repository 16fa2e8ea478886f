// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/profiler/device_trace.h>

namespace draftscope::profiler {

Result<std::unique_ptr<DeviceTrace>> start_device_trace(DeviceTraceMode mode) {
  if (mode == DeviceTraceMode::off) return nullptr;
  return fail("device trace: built without CUPTI, expected a build made where the CUDA toolkit is installed");
}

}  // namespace draftscope::profiler
