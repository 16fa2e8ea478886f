// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/read_memory.h"

namespace draftscope::engine {

namespace {

constexpr int threads = 512;
// 64 registers per thread: eight loads are in flight without spills.
constexpr int blocks_per_multiprocessor = 2;
constexpr int loads_in_flight = 8;

__global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    read_all(const uint4* from, std::size_t count, unsigned* sink) {
  const std::size_t stride = std::size_t{gridDim.x} * threads;
  std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  unsigned sum = 0;
  for (; i + (loads_in_flight - 1) * stride < count; i += loads_in_flight * stride) {
    uint4 values[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) values[k] = __ldcs(from + i + k * stride);
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) sum += values[k].x ^ values[k].y ^ values[k].z ^ values[k].w;
  }
  for (; i < count; i += stride) {
    const uint4 value = __ldcs(from + i);
    sum += value.x ^ value.y ^ value.z ^ value.w;
  }
  if (sum == 0x9E3779B9U) *sink = sum;
}

__global__ void fill_all(unsigned* to, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    unsigned x = static_cast<unsigned>(i) ^ 1U;
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    x ^= x >> 16;
    // Writes two bf16: sign, mantissa and the exponent's three low bits are random, magnitudes from 2^-7 to
    // below 2.
    to[i] = (x & 0x83FF83FFU) | 0x3C003C00U;
  }
}

}  // namespace

cudaError_t read_memory(const void* from, std::size_t bytes, unsigned* sink, int multiprocessors,
                        cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(multiprocessors * blocks_per_multiprocessor));
  config.blockDim = dim3(threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, read_all, static_cast<const uint4*>(from), bytes / sizeof(uint4), sink);
}

cudaError_t fill_memory(void* to, std::size_t bytes, cudaStream_t stream) {
  constexpr unsigned fill_blocks = 2048;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(fill_blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, fill_all, static_cast<unsigned*>(to), bytes / sizeof(unsigned));
}

}  // namespace draftscope::engine
