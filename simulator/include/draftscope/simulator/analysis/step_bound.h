// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What bounds a vanilla step: the bytes that it must read, in its time, beside the machine's memory. The
// bytes follow from sizes in meta (weights of a step, K/V rows up to the mean context); the time is the
// recording's.
//
// Pure functions, safe from any thread. O(requests).

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <optional>
#include <string>

namespace draftscope::simulator {

/// Memory bandwidth of the recorded GPU. Both rates are 10⁹ bytes per second.
struct ReadRate {
  std::string gpu;              ///< Name of its specification: "H200-SXM5-141GB".
  double specified_gb_s = 0.0;  ///< Bandwidth of the specification.
  double gb_s = 0.0;            ///< Bandwidth that reading alone reaches (simulator/data/gpus.csv).
};
/// Absent for a CPU, and for a GPU without a specification.
[[nodiscard]] std::optional<ReadRate> read_rate(const traces::Meta& meta);

/// Bytes of keys and values that one row of the cache has, over all layers; absent if meta lacks sizes.
[[nodiscard]] std::optional<double> cache_row_bytes(const traces::Meta& meta);

struct StepBound {
  double weight_bytes = 0.0;
  double cache_bytes = 0.0;   ///< 0 = not known
  double ns = 0.0;            ///< Mean time of a step.
  bool is_busy_time = false;  ///< Whether `ns` is the device's busy time; else it is wall time.
  std::optional<double>
      busy_share;  ///< Busy time / wall time of these steps; absent without a device's times.
  std::optional<ReadRate> rate;

  [[nodiscard]] double gb_s() const { return (weight_bytes + cache_bytes) / ns; }
  /// Share of the specified bandwidth; absent where `rate` is.
  [[nodiscard]] std::optional<double> share() const;
};
/// Absent without a vanilla run with steps, and where meta does not say what a step reads.
[[nodiscard]] std::optional<StepBound> step_bound(const MeasuredRecording& measured);

/// One sentence, such as "A vanilla step reads 15.0 GB (by sizes) in 6.04 ms busy (measured): 2491 GB/s, 51.9
/// % of the 4800 that the H200-SXM5-141GB is specified for." Empty where there is no bound.
[[nodiscard]] std::string step_bound_text(const MeasuredRecording& measured, Characters characters);

}  // namespace draftscope::simulator
