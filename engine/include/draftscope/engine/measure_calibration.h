// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Everything that a calibration times of one model, in interleaved repeats until its time is up.
// Thread-safety: none; the backend is used alone while it is measured.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/speculation/measured_kernel.h>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace draftscope::engine {

struct CalibrationPlan {
  std::vector<std::int32_t> rows{1, 2, 4, 8, 16};  ///< widths of passes
  std::vector<std::int32_t> contexts{64, 1024};    ///< K/V rows, ascending; every width at the first
  std::int64_t end_ns = 0;                         ///< on the profiler's clock: no repeat begins later
  std::int32_t min_repeats = 3;                    ///< made whatever end_ns says
  const std::atomic<bool>* cancelled = nullptr;    ///< looked at between measurements; null = never cancelled
  std::function<void()> progress = [] {};          ///< called after every measurement
};

/// Times of one model, over all repeats but the first.
struct CalibrationTimes {
  std::vector<speculation::MeasuredKernel> kernels;
  std::vector<double> memory_gb_s;    ///< 10⁹ bytes a second
  std::vector<double> empty_pass_ns;  ///< passes of one row without layers or head
  std::int32_t repeats = 0;
  bool cancelled = false;  ///< before the plan was done
};

/// Times the backend's passes, operations and rounds. The first repeat warms up and is dropped. Passes below
/// five milliseconds are timed in blocks after one that is not, as decoding runs them: one after the other.
/// Fails as the backend does.
[[nodiscard]] Result<CalibrationTimes> measure_calibration(Backend& backend, const CalibrationPlan& plan);

}  // namespace draftscope::engine
