// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The exit of a program that needs a device and can't start: skipped if there is no device, failed if there
// is one.

#include <draftscope/base/result.h>

#include <string>

namespace draftscope::test {

/// Exit status of a test that did not run, as configured for CTest.
inline constexpr int skipped = 77;

/// A program's exit status, and the line that it prints then.
struct FailedStart {
  int status = 0;
  std::string line;
};

/// The exit of a program whose start failed with `error`. `is_missing`: the device or library that it needs
/// does not exist here.
[[nodiscard]] FailedStart failed_start(bool is_missing, const Error& error);

/// Whether this build has no CUDA toolkit, or the machine no usable driver, or no device. False for a device
/// that does not respond as expected. Makes no context on a device.
[[nodiscard]] bool device_is_missing();

/// Whether start_device_trace() failed because CUPTI is missing, in the build or on the machine.
[[nodiscard]] bool cupti_is_missing(const Error& error);

}  // namespace draftscope::test
