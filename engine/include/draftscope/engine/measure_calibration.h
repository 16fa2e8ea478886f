// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Takes all times that a calibration needs from one model, in interleaved repeats until its time is up.
// Thread-safety: none; nothing else may use the backend meanwhile.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/speculation/measured_kernel.h>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace draftscope::engine {

struct CalibrationPlan {
  std::vector<std::int32_t> rows{1, 2, 4, 8, 16};  ///< rows of the passes
  std::vector<std::int32_t> contexts{64, 1024};    ///< K/V rows, ascending; every width is timed at the first
  std::int64_t end_ns = 0;                         ///< on the profiler's clock; no repeat begins later
  std::int32_t min_repeats = 3;                    ///< These repeats run whatever end_ns says.
  const std::atomic<bool>* cancelled = nullptr;    ///< checked between measurements; null = never cancelled
  std::function<void()> progress = [] {};          ///< called after every measurement
};

/// Times of one model, over all repeats except the first.
struct CalibrationTimes {
  std::vector<speculation::MeasuredKernel> kernels;
  std::vector<double> memory_gb_s;    ///< 10⁹ bytes per second
  std::vector<double> empty_pass_ns;  ///< passes of one row without layers or head
  std::int32_t repeats = 0;
  bool cancelled = false;  ///< whether it was cancelled before the plan was complete
};

/// Times the backend's passes, operations and rounds. The first repeat warms up and is dropped. Passes below
/// five milliseconds are timed in blocks of back-to-back passes, as in decoding; an untimed pass precedes
/// each block. Fails as the backend does.
[[nodiscard]] Result<CalibrationTimes> measure_calibration(Backend& backend, const CalibrationPlan& plan);

}  // namespace draftscope::engine
