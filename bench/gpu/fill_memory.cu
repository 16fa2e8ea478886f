// SPDX-License-Identifier: GPL-3.0-or-later
#include "fill_memory.h"

namespace draftscope::bench {

namespace {

__global__ void fill(std::uint32_t* to, std::size_t count, std::uint32_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    std::uint32_t x = static_cast<std::uint32_t>(i) ^ seed;
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x = (x ^ (x >> 15)) * 0x846CA68BU;
    x ^= x >> 16;
    // Two bf16: sign, mantissa and the exponent's three low bits are random, magnitudes from 2^-7 to below 2.
    to[i] = (x & 0x83FF83FFU) | 0x3C003C00U;
  }
}

}  // namespace

cudaError_t launch_fill(void* to, std::size_t bytes, std::uint32_t seed, cudaStream_t stream) {
  constexpr unsigned blocks = 2048;
  constexpr unsigned threads = 512;
  fill<<<blocks, threads, 0, stream>>>(static_cast<std::uint32_t*>(to), bytes / sizeof(std::uint32_t), seed);
  return cudaGetLastError();
}

}  // namespace draftscope::bench
