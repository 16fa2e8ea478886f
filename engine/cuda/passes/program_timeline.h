// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Brings the times of operations, which programs record themselves, from device memory to the device trace.
//
// A device's clock is not the host's. A program begins after the host has launched it, and has ended when the
// host has waited for it. So each program bounds the difference of the two clocks. The bounds of all programs
// of the last second form an interval, whose midpoint is used.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "cuda/device_memory.h"
#include "cuda/gpu.h"

namespace draftscope::engine::cuda {

/// The difference between two clocks that tick alike, derived from which events must precede which.
class ClockDifference {
 public:
  /// Events of the other clock happened after `before` and before `after` of the host's clock.
  void add(std::int64_t before_ns, std::int64_t after_ns, std::int64_t first_there_ns,
           std::int64_t last_there_ns);
  /// Converts a time of the other clock to the host's.
  [[nodiscard]] std::int64_t here(std::int64_t there_ns) const { return there_ns + (low_ns_ + high_ns_) / 2; }
  /// Maximum error of here(), in either direction.
  [[nodiscard]] std::int64_t error_ns() const { return (high_ns_ - low_ns_) / 2; }

 private:
  std::int64_t low_ns_ = 0, high_ns_ = 0;
  std::optional<std::int64_t> begin_ns_;  ///< Start of the first program in the interval.
};

/// An operation as the trace is to name it.
struct NotedOperation {
  std::string_view name;
  std::int32_t layer = -1;
  std::optional<traces::Phase> phase;
  std::int64_t weight_bytes = 0;
  bool reads_cache = false;
};

class ProgramTimeline {
 public:
  /// Owns neither of them.
  ProgramTimeline(Gpu& gpu, profiler::DeviceTrace& trace) : gpu_(gpu), trace_(trace) {}

  /// Must be called before a program's launches: makes room for `operations` operations of `blocks` blocks.
  /// `keys` is the number that the attention of the first step reads, with `cache_bytes` each.
  [[nodiscard]] Result<void> begin(std::vector<NotedOperation> entries, std::int32_t operations,
                                   std::int32_t blocks, std::int32_t keys, std::int64_t cache_bytes);
  /// Where the program's next launch records at most `operations` operations.
  [[nodiscard]] Timeline next(std::int32_t operations, std::int32_t blocks);
  /// Must be called after a program's launches: requests what they recorded.
  [[nodiscard]] Result<void> end();
  /// Must be called after waiting for the device: reports all programs since the last call to the trace.
  void report();

 private:
  struct Launch {
    std::int32_t first = 0;  ///< First operation among the program's.
    std::int32_t operations = 0;
    std::int32_t blocks = 0;
  };
  struct Program {
    std::vector<NotedOperation> entries;
    std::vector<Launch> launches;
    std::int64_t launched_ns = 0;
    std::int32_t keys = 0;
    std::int64_t cache_bytes = 0;
    std::vector<std::int32_t> ran;     ///< 1 + entry by operation; 0 = none
    std::vector<OperationTime> times;  ///< [operation][block]
  };
  void report(const Program& program, std::int64_t waited_ns);

  Gpu& gpu_;
  profiler::DeviceTrace& trace_;
  DeviceMemory memory_;
  std::size_t room_ = 0;          ///< In operations.
  std::int32_t stride_ = 0;       ///< In blocks.
  std::deque<Program> programs_;  ///< Programs launched since the last report().
  ClockDifference clock_;
  std::vector<profiler::TimedOperation> rows_;
};

}  // namespace draftscope::engine::cuda
