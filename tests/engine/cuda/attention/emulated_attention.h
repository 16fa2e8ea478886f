// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "emulated_gpu.h"

namespace draftscope::engine::test {

/// A device that takes blocks and warps in an order of its own.
inline std::unique_ptr<cuda::Gpu> emulated(int multiprocessors, std::uint64_t order) {
  return cuda::emulation::make_emulated_gpu(multiprocessors, cuda::emulation::usual_memory_bytes,
                                            static_cast<std::uint32_t>(order % 1000));
}

}  // namespace draftscope::engine::test
