// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "calibration/memory_probe.h"

namespace draftscope::bench {

/// Probes of the memory, taken between other measurements: GB/s of pure reading.
class Rates {
 public:
  Rates(const std::string& device, std::size_t bytes);
  /// Reads once; `threads` threads read if there is no device.
  void probe(std::int32_t threads);
  [[nodiscard]] const std::vector<double>& read() const { return read_; }
  void forget() { read_.clear(); }

 private:
  std::size_t bytes_;
  std::unique_ptr<engine::MemoryProbe> memory_;  ///< A processor's is made when its threads are known.
  std::vector<double> read_;
};

}  // namespace draftscope::bench
