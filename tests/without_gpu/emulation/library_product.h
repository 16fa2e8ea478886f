// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a library computes on a GPU (cuBLAS): products, for devices that have no such library.

#include <cstdint>

#include "cuda/gpu.h"
#include "cuda/kernels/device.h"

namespace draftscope::engine::cuda::emulation {

/// One row of out, [outputs]: sums in ascending depth, in fp32.
inline void multiply_row(const WideProduct& product, std::int64_t row) {
  const auto value = [&](const void* values, std::int64_t at) {
    const std::uint16_t bits = static_cast<const std::uint16_t*>(values)[at];
    return product.format == WeightFormat::f16 ? F16::to_float(bits) : Bf16::to_float(bits);
  };
  float* out = product.out + row * product.outputs;
  for (std::int64_t output = 0; output < product.outputs; ++output) {
    float sum = 0.0F;
    for (std::int64_t k = 0; k < product.depth; ++k)
      sum += value(product.weights, output * product.depth + k) * value(product.x, row * product.depth + k);
    out[output] = sum;
  }
}

}  // namespace draftscope::engine::cuda::emulation
