// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every kernel twice on the same memory: by the emulated device, which runs its source, and as PTX. Behind
// each launch all of the device's memory is compared.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx_gpu.h"

namespace draftscope::engine::cuda::emulation {

/// How far two devices may differ.
enum class Agreement : std::uint8_t {
  exact,       ///< bit for bit but where expf() and exp() take part, whose last bits are each device's own
  contracted,  ///< sums and products may be fused, as nvcc does unless it is told not to
};

/// Comparisons made, by kernel.
struct ComparedCount {
  int launches = 0;
  int exact = 0;  ///< of them: bit for bit
};

class ComparedKernels {
 public:
  explicit ComparedKernels(Agreement agreement) : agreement_(agreement) {}

  Result<void> before(ptx::Device& device, const Launch& launch, const KernelParams& params);
  Result<void> after(ptx::Device& device, const Launch& launch, const KernelParams& params);

  [[nodiscard]] const std::map<std::string, ComparedCount>& counts() const { return counts_; }

 private:
  using Bytes = std::vector<std::byte>;
  Agreement agreement_;
  std::vector<Bytes> emulated_;  // each region's, behind the kernel
  std::map<std::string, ComparedCount> counts_;
};

}  // namespace draftscope::engine::cuda::emulation
