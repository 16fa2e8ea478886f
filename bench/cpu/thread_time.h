// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ctime>

namespace draftscope::bench {

/// Processor time of the calling thread, in seconds.
[[nodiscard]] inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace draftscope::bench
