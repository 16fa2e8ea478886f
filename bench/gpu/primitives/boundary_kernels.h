// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace draftscope::bench {

/// Way in which a kernel of a chain follows the one before.
enum class Boundary {
  plain,      ///< starts when the one before has ended
  early,      ///< programmatic dependent launch: starts early, waits, then reads its weights
  prefetched  ///< the same, but reads its weights before it waits
};

/// Bytes of weights a launch reads: `loads` (0, 1, 8 or 16) 16-byte values a thread of the whole grid.
std::size_t chain_kernel_bytes(int loads, int multiprocessors);

/// One kernel that reads weights, waits for the one before and adds to a value that the one before wrote: the
/// dependency of a chain of products.
cudaError_t launch_chain_kernel(Boundary boundary, int loads, const void* weights, float* state,
                                int multiprocessors, cudaStream_t stream);

}  // namespace draftscope::bench
