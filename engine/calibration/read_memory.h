// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reading alone: the rate that it reaches on a GPU is what every share of bandwidth refers to, in
// calibrations and in bench/gpu. A copy will not do: a driver may give it to the copy engines, which on an
// H200 move 2.77 TB/s where reading takes 4.55 (measured, in a graph).

#include <cuda_runtime_api.h>

#include <cstddef>

namespace draftscope::engine {

/// Starts a kernel that reads `bytes` (a multiple of 16) once, with 16-byte loads past the caches; `sink` is
/// written only if the values' sum is one that random data does not have.
cudaError_t read_memory(const void* from, std::size_t bytes, unsigned* sink, int multiprocessors,
                        cudaStream_t stream);

/// Starts a kernel that writes random bf16 values between -2 and 2: zeros may be read faster than weights.
cudaError_t fill_memory(void* to, std::size_t bytes, cudaStream_t stream);

}  // namespace draftscope::engine
