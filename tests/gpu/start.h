// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a program that needs a device ends where it does not start: skipped where there is none, failed on one
// that is there.

#include <draftscope/base/result.h>

#include <string>

namespace draftscope::test {

/// Exit status of a test that did not run, as CTest's rows have it.
inline constexpr int skipped = 77;

/// How a program ends, and the line that it prints then.
struct FailedStart {
  int status = 0;
  std::string line;
};

/// End of a program whose start failed with `error`; `is_missing`: what it needs is not here at all.
[[nodiscard]] FailedStart failed_start(bool is_missing, const Error& error);

/// Whether this build has no CUDA toolkit, or the machine no driver that it works with, or no device. False
/// for one that does not answer as it should. Makes no context on a device.
[[nodiscard]] bool device_is_missing();

/// Whether start_device_trace() failed for want of CUPTI, in the build or on the machine.
[[nodiscard]] bool cupti_is_missing(const Error& error);

}  // namespace draftscope::test
