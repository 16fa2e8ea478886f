// SPDX-License-Identifier: GPL-3.0-or-later
#include "needed_bytes.h"

#include <algorithm>

#include "cuda/kernels/launch_shape.h"
#include "cuda/packing/pack_groups.h"
#include "layer_weights.h"

namespace draftscope::bench {

namespace {

using engine::cuda::Kernel;

constexpr std::uint64_t half_bytes = 2;
constexpr std::uint64_t float_bytes = 4;

/// [outputs][depth] of what a product multiplies; nothing of other kernels.
struct MatrixSize {
  std::uint64_t outputs = 0;
  std::uint64_t depth = 0;
};
MatrixSize matrix_size(Kernel kernel, const speculation::ModelShape& shape) {
  const auto wide = [](std::int32_t n) { return static_cast<std::uint64_t>(n); };
  switch (kernel) {
    case Kernel::qkv:
      return {wide(shape.q_width()) + 2 * wide(shape.kv_width()), wide(shape.d_model)};
    case Kernel::output:
      return {wide(shape.d_model), wide(shape.q_width())};
    case Kernel::gate_up:
      return {2 * wide(shape.d_ff), wide(shape.d_model)};
    case Kernel::down:
      return {wide(shape.d_model), wide(shape.d_ff)};
    case Kernel::head:
      return {wide(shape.vocab), wide(shape.d_model)};
    default:
      return {};
  }
}

/// The head is plain.
std::uint64_t matrix_bytes(Kernel kernel, const speculation::ModelShape& shape, engine::CudaWeights weights) {
  const auto [outputs, depth] = matrix_size(kernel, shape);
  return weights && kernel != Kernel::head ? rounded_bytes(outputs, depth, *weights)
                                           : outputs * depth * half_bytes;
}

}  // namespace

NeededBytes needed_bytes(const PassKernel& of, const speculation::ModelShape& shape, std::int32_t n_rows,
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
  // What a product reads that normalises its rows.
  const std::uint64_t normalised = of.reads_normed ? 0 : norm + residual;
  NeededBytes bytes{.weights = matrix_bytes(of.kernel, shape, weights)};
  switch (of.kernel) {
    case Kernel::load_inputs:
      bytes.weights = rows * d * half_bytes;
      bytes.others_written = residual;
      break;
    case Kernel::normalise_rows:
      bytes.others_read = norm + residual;
      break;
    case Kernel::qkv:
      bytes.others_read = normalised;
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
      bytes.others_read = rows * q * half_bytes + residual;
      bytes.others_written = residual;
      break;
    case Kernel::gate_up:
      bytes.others_read = normalised;
      bytes.others_written = rows * ff * half_bytes;
      break;
    case Kernel::down:
      bytes.others_read = rows * ff * half_bytes + residual;
      bytes.others_written = residual;
      break;
    case Kernel::head:
      bytes.others_read = normalised;
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

std::uint64_t passed_on_bytes(const PassKernel& kernel, const speculation::ModelShape& shape,
                              std::int32_t rows) {
  if (!is_of_normed_rows(kernel)) return 0;
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(shape.d_model) * half_bytes;
}

std::uint64_t scales_asked_again(Kernel kernel, const speculation::ModelShape& shape,
                                 engine::CudaWeights weights) {
  const auto groups = weights ? engine::cuda::grouped_format(*weights) : std::nullopt;
  const auto [outputs, depth] = matrix_size(kernel, shape);
  if (!groups || depth == 0 || kernel == Kernel::head) return 0;
  const engine::cuda::GroupedLayout& layout = *engine::cuda::grouped_layout(*groups);
  const auto together = static_cast<std::uint64_t>(layout.scale_depth);
  // As SkinnyProduct cuts the depth.
  constexpr std::uint64_t granule = engine::cuda::slice_granule;
  constexpr std::uint64_t slices = engine::cuda::product_slices;
  const std::uint64_t granules = (depth + granule - 1) / granule;
  const std::uint64_t slice = (granules + slices - 1) / slices * granule;
  std::uint64_t asked = 0;
  for (std::uint64_t first = 0; first < depth; first += slice)
    asked += (std::min(depth, first + slice) + together - 1) / together - first / together;
  const std::uint64_t again = asked - (depth + together - 1) / together;
  return again * outputs * engine::cuda::scale_bytes / static_cast<std::uint64_t>(layout.sharing_rows);
}

}  // namespace draftscope::bench
