// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

namespace draftscope::bench {

/// Does next to nothing: the body of a loop.
cudaError_t launch_body_kernel(float* state, cudaStream_t stream);
/// Counts `remaining` down; a loop over `loop` ends when it is 0.
cudaError_t launch_countdown(int* remaining, cudaGraphConditionalHandle loop, cudaStream_t stream);
/// Counts `remaining`, host memory that the device sees, down.
cudaError_t launch_visible_countdown(int* remaining, cudaStream_t stream);

}  // namespace draftscope::bench
