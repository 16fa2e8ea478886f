// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A Gpu whose memory is the host's and whose kernels run on the host, thread by thread (block_emulation.h):
// blocks and warps run in any order that a device may choose. If blocks of a kernel touched the same memory
// and nothing ordered them, all later calls fail (device_accesses.h).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/gpu.h"

namespace draftscope::engine::cuda::emulation {

inline constexpr std::size_t usual_memory_bytes = std::size_t{1} << 30;
inline constexpr std::size_t usual_shared_bytes = std::size_t{227} << 10;

/// Makes a device. Few `multiprocessors` let blocks walk over several tiles. Up to `memory_bytes` can be
/// allocated, full of NaNs. `seed` draws the order of blocks and warps. A block may have `shared_bytes`.
[[nodiscard]] std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors = 3,
                                                     std::size_t memory_bytes = usual_memory_bytes,
                                                     std::uint32_t seed = 1,
                                                     std::size_t shared_bytes = usual_shared_bytes);

}  // namespace draftscope::engine::cuda::emulation
