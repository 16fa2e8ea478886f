// SPDX-License-Identifier: GPL-3.0-or-later
#include "product_shape.h"

#include <algorithm>
#include <cstddef>

#include "kernels/pass_state.h"

namespace draftscope::engine::cuda {

namespace {

/// Columns and rows for the fewest launches of which a block fits with one stage: rows that are normalised
/// in the block if it holds them, else ahead of it.
ProductShape widest(const GpuDescription& device, std::int32_t rows, std::int32_t d_model, bool normalises,
                    WeightFormat format) {
  const ProductShape least{
      .columns = 8, .rows = 1, .stages = 1, .stage_bytes = stage_bytes(format), .reads_normed = normalises};
  for (std::int32_t launches = (rows + widest_columns - 1) / widest_columns; launches <= rows; ++launches) {
    ProductShape shape = least;
    shape.rows = (rows + launches - 1) / launches;
    shape.columns = 8;
    while (shape.columns < shape.rows) shape.columns *= 2;
    shape.reads_normed = normalises && shape.rows > max_staged_rows;
    if (product_shared_bytes(shape, d_model, normalises) <= device.shared_bytes) return shape;
    if (!normalises || shape.reads_normed) continue;
    shape.reads_normed = true;
    if (product_shared_bytes(shape, d_model, normalises) <= device.shared_bytes) return shape;
  }
  return least;
}

}  // namespace

ProductShape product_shape(const GpuDescription& device, std::int32_t rows, std::int32_t d_model,
                           bool normalises, WeightFormat format) {
  ProductShape shape = widest(device, rows, d_model, normalises, format);
  for (std::int32_t stages = max_ring_stages; stages > 1; stages /= 2) {
    shape.stages = stages;
    if (product_shared_bytes(shape, d_model, normalises) <= device.shared_bytes) return shape;
  }
  shape.stages = 1;
  return shape;
}

std::size_t product_request(const GpuDescription& device, const ProductShape& shape, std::int32_t depth,
                            bool normalises) {
  // The least of which two are more than a multiprocessor has.
  const std::size_t apart = device.shared_bytes_of_multiprocessor / 2 + 1;
  const std::size_t asked = apart > device.reserved_shared_bytes ? apart - device.reserved_shared_bytes : 0;
  return std::max(product_shared_bytes(shape, depth, normalises), asked);
}

}  // namespace draftscope::engine::cuda
