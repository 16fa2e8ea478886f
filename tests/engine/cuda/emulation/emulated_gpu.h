// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A Gpu whose memory is the host's and whose kernels run on the host, thread by thread (block_emulation.h),
// in any order that a device may take (kernel_queue.h). Calls fail from the first wait on in which a kernel
// was found to read, before its own wait, what a kernel before it writes (device_accesses.h).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/gpu.h"

namespace draftscope::engine::cuda::emulation {

inline constexpr std::size_t usual_memory_bytes = std::size_t{1} << 30;
inline constexpr std::size_t usual_shared_bytes = std::size_t{227} << 10;

/// `multiprocessors` few, so that blocks walk over several tiles. Memory is handed out full of NaNs, up to
/// `memory_bytes`. `seed` draws the order of kernels, blocks and warps. A block has `shared_bytes`, and a
/// multiprocessor 1 KiB more, of which each block takes that much for itself. `has_loops`: graphs may have
/// one.
[[nodiscard]] std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors = 3,
                                                     std::size_t memory_bytes = usual_memory_bytes,
                                                     std::uint32_t seed = 1,
                                                     std::size_t shared_bytes = usual_shared_bytes,
                                                     bool has_loops = true);

}  // namespace draftscope::engine::cuda::emulation
