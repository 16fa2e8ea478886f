// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Measures the rate at which this machine's memory is read, for comparison with the rates that kernels reach.
// On a CPU all threads read; on a GPU one kernel reads and does nothing else.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace draftscope::engine {

class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  /// Measures the rate, in 10⁹ bytes per second, over memory several times larger than any cache.
  [[nodiscard]] virtual Result<double> gb_per_s() = 0;
};

/// Makes a probe of a plain read of `bytes` by `threads` threads.
[[nodiscard]] std::unique_ptr<MemoryProbe> make_cpu_memory_probe(std::int32_t threads,
                                                                 std::size_t bytes = std::size_t{1} << 29);

inline constexpr std::size_t probed_bytes = std::size_t{2} << 30;

/// Makes a probe of the device that this thread uses. It reads `pool_bytes` of random numbers; each launch
/// reads a part of `part_bytes`, or all of them. Errors: there is no device, or too little memory.
[[nodiscard]] Result<std::unique_ptr<MemoryProbe>> make_cuda_memory_probe(
    std::size_t pool_bytes = probed_bytes, std::size_t part_bytes = static_cast<std::size_t>(-1));

}  // namespace draftscope::engine
