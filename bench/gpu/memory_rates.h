// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rate at which this device's memory is read; every share in bench/gpu refers to it.

#include <draftscope/base/result.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace draftscope::bench {

class MemoryRates {
 public:
  virtual ~MemoryRates() = default;
  /// Bytes/s, one value a repeat. Each repeat goes once through a pool larger than any cache, in parts of
  /// `bytes`, a launch a part.
  [[nodiscard]] virtual Result<std::vector<double>> read(std::size_t bytes, int repeats) = 0;
};

/// A pool in device memory, filled with random values. One line where there is no device.
[[nodiscard]] Result<std::unique_ptr<MemoryRates>> make_memory_rates(std::size_t pool_bytes);

}  // namespace draftscope::bench
