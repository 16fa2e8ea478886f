// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace draftscope::bench {

/// Reads `bytes` (a multiple of 16) once, with 16-byte loads past the caches; `sink` is written only if the
/// values' sum is one that random data does not have.
cudaError_t launch_read(const void* from, std::size_t bytes, unsigned* sink, int multiprocessors,
                        cudaStream_t stream);

/// Random bf16 values between -2 and 2: zeros may run faster than a model's weights.
cudaError_t launch_fill(void* to, std::size_t bytes, std::uint32_t seed, cudaStream_t stream);

}  // namespace draftscope::bench
