// SPDX-License-Identifier: GPL-3.0-or-later
#include "boundary_kernels.h"

namespace draftscope::bench {

namespace {

constexpr int threads = 256;
constexpr int blocks_per_multiprocessor = 2;

template <Boundary boundary, int loads>
__global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    chain_kernel(const uint4* weights, float* state) {
  const unsigned place = blockIdx.x * threads + threadIdx.x;
  const unsigned stride = gridDim.x * threads;
  uint4 values[loads == 0 ? 1 : loads] = {};
  const auto read_weights = [&] {
#pragma unroll
    for (int i = 0; i < loads; ++i) values[i] = __ldcs(weights + place + static_cast<unsigned>(i) * stride);
  };
  // The next kernel may come at once: it waits for this one's end by itself. Nothing older launches it so.
#if __CUDA_ARCH__ >= 900
  if constexpr (boundary != Boundary::plain) cudaTriggerProgrammaticLaunchCompletion();
  if constexpr (boundary == Boundary::prefetched) read_weights();
  if constexpr (boundary != Boundary::plain) cudaGridDependencySynchronize();
#else
  if constexpr (boundary == Boundary::prefetched) read_weights();
#endif
  if constexpr (boundary != Boundary::prefetched) read_weights();
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < loads; ++i) sum += values[i].x ^ values[i].y ^ values[i].z ^ values[i].w;
  state[place] += sum == 0x9E3779B9U ? 1.0F : 0.5F;
}

template <Boundary boundary>
cudaError_t launch(int loads, const void* weights, float* state, cudaLaunchConfig_t& config) {
  const auto* values = static_cast<const uint4*>(weights);
  switch (loads) {
    case 0:
      return cudaLaunchKernelEx(&config, chain_kernel<boundary, 0>, values, state);
    case 1:
      return cudaLaunchKernelEx(&config, chain_kernel<boundary, 1>, values, state);
    case 8:
      return cudaLaunchKernelEx(&config, chain_kernel<boundary, 8>, values, state);
    case 16:
      return cudaLaunchKernelEx(&config, chain_kernel<boundary, 16>, values, state);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

std::size_t chain_kernel_bytes(int loads, int multiprocessors) {
  return sizeof(uint4) * static_cast<std::size_t>(loads) * threads *
         static_cast<std::size_t>(multiprocessors * blocks_per_multiprocessor);
}

cudaError_t launch_chain_kernel(Boundary boundary, int loads, const void* weights, float* state,
                                int multiprocessors, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(multiprocessors * blocks_per_multiprocessor));
  config.blockDim = dim3(threads);
  config.stream = stream;
  if (boundary == Boundary::plain) return launch<Boundary::plain>(loads, weights, state, config);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &early;
  config.numAttrs = 1;
  return boundary == Boundary::early ? launch<Boundary::early>(loads, weights, state, config)
                                     : launch<Boundary::prefetched>(loads, weights, state, config);
}

}  // namespace draftscope::bench
