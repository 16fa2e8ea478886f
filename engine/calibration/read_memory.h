// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Kernels that only read. The rate that reading reaches on a GPU is the reference for every share of
// bandwidth, in calibrations and in bench/gpu. A copy can't serve as reference: a driver may run it on the
// copy engines, which on an H200 move 2.77 TB/s where reading takes 4.55 (measured, in a graph).

#include <cuda_runtime_api.h>

#include <cstddef>

namespace draftscope::engine {

/// Starts a kernel that reads `bytes` (a multiple of 16) once, with 16-byte loads that bypass the caches.
/// `sink` is written only if the values' sum is one that random data does not have.
cudaError_t read_memory(const void* from, std::size_t bytes, unsigned* sink, int multiprocessors,
                        cudaStream_t stream);

/// Starts a kernel that writes random bf16 values between -2 and 2, since zeros may be read faster than
/// weights.
cudaError_t fill_memory(void* to, std::size_t bytes, cudaStream_t stream);

}  // namespace draftscope::engine
