// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device time of a list of launches, kept as a graph so that the host's launching is not what is measured.

#include <cuda_runtime_api.h>
#include <draftscope/base/result.h>

#include <functional>
#include <vector>

namespace draftscope::bench {

struct DeviceFacts {
  int multiprocessors = 0;
  std::size_t cache_bytes = 0;    ///< the last cache's
  bool has_early_starts = false;  ///< programmatic dependent launch
};

class ReplayTimer {
 public:
  /// Fails with one line where there is no device.
  [[nodiscard]] static Result<ReplayTimer> make();
  ReplayTimer(ReplayTimer&& other) noexcept;
  ReplayTimer& operator=(ReplayTimer&&) = delete;
  ~ReplayTimer();

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const DeviceFacts& device() const { return device_; }

  using Enqueue = std::function<Result<void>(cudaStream_t)>;
  /// Seconds of each of `repeats` replays of what `enqueue` puts on the stream, after one that warms up.
  [[nodiscard]] Result<std::vector<double>> seconds(const Enqueue& enqueue, int repeats);
  /// Times a graph that the caller made and keeps.
  [[nodiscard]] Result<std::vector<double>> seconds_of(cudaGraphExec_t graph, int repeats);

 private:
  ReplayTimer() = default;
  DeviceFacts device_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace draftscope::bench
