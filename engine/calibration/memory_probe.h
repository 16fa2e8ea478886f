// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rate at which this machine's memory is read, for comparison with what kernels reach. On a CPU all
// threads read; on a GPU one kernel reads and does nothing else.

#include <draftscope/base/result.h>
#include <cstdint>
#include <memory>

namespace draftscope::engine {

class MemoryProbe {
 public:
  virtual ~MemoryProbe() = default;
  /// Measures: 10⁹ bytes a second, of memory several times larger than any cache.
  [[nodiscard]] virtual Result<double> gb_per_s() = 0;
};

/// Rate of a plain read by `threads` threads.
[[nodiscard]] std::unique_ptr<MemoryProbe> make_cpu_memory_probe(std::int32_t threads);

/// Rate of the device that this thread uses. Fails where there is none.
[[nodiscard]] Result<std::unique_ptr<MemoryProbe>> make_cuda_memory_probe();

}  // namespace draftscope::engine
