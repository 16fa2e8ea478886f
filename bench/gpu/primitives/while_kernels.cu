// SPDX-License-Identifier: GPL-3.0-or-later
#include "while_kernels.h"

namespace draftscope::bench {

namespace {

__global__ void body(float* state) {
  state[blockIdx.x * blockDim.x + threadIdx.x] += 1.0F;
}

__global__ void countdown(int* remaining, cudaGraphConditionalHandle loop) {
  const int left = *remaining - 1;
  *remaining = left;
  cudaGraphSetConditional(loop, left > 0 ? 1 : 0);
}

__global__ void visible_countdown(volatile int* remaining) {
  *remaining = *remaining - 1;
  __threadfence_system();
}

}  // namespace

cudaError_t launch_body_kernel(float* state, cudaStream_t stream) {
  constexpr int blocks = 132;
  constexpr int threads = 128;
  body<<<blocks, threads, 0, stream>>>(state);
  return cudaGetLastError();
}

cudaError_t launch_countdown(int* remaining, cudaGraphConditionalHandle loop, cudaStream_t stream) {
  countdown<<<1, 1, 0, stream>>>(remaining, loop);
  return cudaGetLastError();
}

cudaError_t launch_visible_countdown(int* remaining, cudaStream_t stream) {
  visible_countdown<<<1, 1, 0, stream>>>(remaining);
  return cudaGetLastError();
}

}  // namespace draftscope::bench
