// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Brings the times of operations that programs record by themselves from device memory to the device trace.
//
// A device's clock is not the host's. A program begins after the host has launched it, and has ended when the
// host has waited for it. So each program bounds the difference of the two clocks. The bounds of all programs
// of the last second make an interval, whose middle is taken.

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

/// The difference between two clocks that tick alike, as it follows from what must have come before what.
class ClockDifference {
 public:
  /// Something happened at `there` of the other clock, after `before` and before `after` of the host's.
  void add(std::int64_t before_ns, std::int64_t after_ns, std::int64_t first_there_ns,
           std::int64_t last_there_ns);
  /// A time of the other clock, by the host's.
  [[nodiscard]] std::int64_t here(std::int64_t there_ns) const { return there_ns + (low_ns_ + high_ns_) / 2; }
  /// How far here() may be off at most, either way.
  [[nodiscard]] std::int64_t error_ns() const { return (high_ns_ - low_ns_) / 2; }

 private:
  std::int64_t low_ns_ = 0, high_ns_ = 0;
  std::optional<std::int64_t> begin_ns_;  ///< begin of the first program that the interval is made of
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
  /// Neither is owned.
  ProgramTimeline(Gpu& gpu, profiler::DeviceTrace& trace) : gpu_(gpu), trace_(trace) {}

  /// To be called before a program's launches: makes room for `operations` operations of `blocks` blocks.
  /// `keys`: that the attention of its first step reads, `cache_bytes` each.
  [[nodiscard]] Result<void> begin(std::vector<NotedOperation> entries, std::int32_t operations,
                                   std::int32_t blocks, std::int32_t keys, std::int64_t cache_bytes);
  /// Where the program's next launch records at most `operations` operations.
  [[nodiscard]] Timeline next(std::int32_t operations, std::int32_t blocks);
  /// To be called after a program's launches: asks for what they recorded.
  [[nodiscard]] Result<void> end();
  /// To be called after the device has been waited for: tells the trace of all programs since the last call.
  void report();

 private:
  struct Launch {
    std::int32_t first = 0;  ///< operation among the program's
    std::int32_t operations = 0;
    std::int32_t blocks = 0;
  };
  struct Program {
    std::vector<NotedOperation> entries;
    std::vector<Launch> launches;
    std::int64_t launched_ns = 0;
    std::int32_t keys = 0;
    std::int64_t cache_bytes = 0;
    std::vector<std::int32_t> ran;     ///< 1 + its entry, by operation; 0 = none
    std::vector<OperationTime> times;  ///< [operation][block]
  };
  void report(const Program& program, std::int64_t waited_ns);

  Gpu& gpu_;
  profiler::DeviceTrace& trace_;
  DeviceMemory memory_;
  std::size_t room_ = 0;          ///< operations
  std::int32_t stride_ = 0;       ///< blocks
  std::deque<Program> programs_;  ///< launched since the last report()
  ClockDifference clock_;
  std::vector<profiler::TimedOperation> rows_;
};

}  // namespace draftscope::engine::cuda
