// SPDX-License-Identifier: GPL-3.0-or-later
#include "needed_bytes.h"

#include "cuda/kernels/launch_shape.h"
#include "layer_weights.h"

namespace draftscope::bench {

namespace {

using engine::cuda::Kernel;

constexpr std::uint64_t half_bytes = 2;
constexpr std::uint64_t float_bytes = 4;

/// A layer's matrix [outputs][depth].
std::uint64_t matrix_bytes(std::uint64_t outputs, std::uint64_t depth, engine::CudaWeights weights) {
  return weights ? rounded_bytes(outputs, depth, *weights) : outputs * depth * half_bytes;
}

}  // namespace

NeededBytes needed_bytes(Kernel kernel, const speculation::ModelShape& shape, std::int32_t n_rows,
                         std::int32_t context, engine::CudaWeights weights) {
  const auto wide = [](std::int32_t n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t rows = wide(n_rows);
  const std::uint64_t d = wide(shape.d_model);
  const std::uint64_t q = wide(shape.q_width());
  const std::uint64_t kv = wide(shape.kv_width());
  const std::uint64_t ff = wide(shape.d_ff);
  const std::uint64_t vocab = wide(shape.vocab);
  const std::uint64_t residual = rows * d * float_bytes;
  const std::uint64_t norm = d * float_bytes;
  const std::uint64_t partials =
      rows * (vocab / engine::cuda::tile_outputs) * sizeof(engine::cuda::HeadPartial);
  NeededBytes bytes;
  switch (kernel) {
    case Kernel::load_inputs:
      bytes.weights = rows * d * half_bytes;
      bytes.others_written = residual;
      break;
    case Kernel::qkv:
      bytes.weights = matrix_bytes(q + 2 * kv, d, weights);
      bytes.others_read = norm + residual;
      bytes.others_written = rows * q * half_bytes;
      bytes.cache_written = rows * 2 * kv * half_bytes;
      break;
    case Kernel::attention:
    case Kernel::prefill_attention:
      bytes.cache_read = (wide(context) + rows) * 2 * kv * half_bytes;
      bytes.others_read = rows * q * half_bytes;
      bytes.others_written = rows * q * half_bytes;
      break;
    case Kernel::output:
      bytes.weights = matrix_bytes(d, q, weights);
      bytes.others_read = rows * q * half_bytes + residual;
      bytes.others_written = residual;
      break;
    case Kernel::gate_up:
      bytes.weights = matrix_bytes(2 * ff, d, weights);
      bytes.others_read = norm + residual;
      bytes.others_written = rows * ff * half_bytes;
      break;
    case Kernel::down:
      bytes.weights = matrix_bytes(d, ff, weights);
      bytes.others_read = rows * ff * half_bytes + residual;
      bytes.others_written = residual;
      break;
    case Kernel::head:
      bytes.weights = matrix_bytes(vocab, d, std::nullopt);
      bytes.others_read = norm + residual;
      bytes.others_written = partials;
      break;
    case Kernel::finish_head:
      bytes.others_read = partials;
      bytes.others_written = rows * sizeof(engine::cuda::HeadResult);
      break;
    default:
      break;
  }
  return bytes;
}

}  // namespace draftscope::bench
