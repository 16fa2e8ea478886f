// SPDX-License-Identifier: GPL-3.0-or-later
#include "product_shape.h"

#include <cstddef>

#include "kernels/pass_state.h"

namespace draftscope::engine::cuda {

namespace {

/// Columns and rows for the fewest launches of which a block fits with one stage: rows that are normalised
/// in the block if it holds them, else ahead of it.
ProductShape widest(const GpuDescription& device, std::int32_t rows, std::int32_t d_model, bool normalises,
                    WeightFormat format) {
  const ProductShape least{.columns = 8, .rows = 1, .stages = 1, .stage_bytes = stage_bytes(format)};
  for (std::int32_t launches = (rows + max_launch_rows - 1) / max_launch_rows; launches <= rows; ++launches) {
    ProductShape shape = least;
    shape.rows = (rows + launches - 1) / launches;
    shape.columns = shape.rows > 8 ? max_launch_rows : 8;
    if (product_shared_bytes(shape, d_model, normalises) <= device.shared_bytes) return shape;
    if (!normalises) continue;
    shape.reads_normed = true;
    shape.columns = max_launch_rows;
    if (product_shared_bytes(shape, d_model, normalises) <= device.shared_bytes) return shape;
  }
  return least;
}

}  // namespace

ProductShape product_shape(const GpuDescription& device, std::int32_t rows, std::int32_t d_model,
                           bool normalises, WeightFormat format) {
  ProductShape shape = widest(device, rows, d_model, normalises, format);
  ProductShape neighbour = widest(device, rows, d_model, !normalises, format);
  std::int32_t alone = 0;  // the most stages of a block
  for (std::int32_t stages = max_ring_stages; stages > 0; stages /= 2) {
    shape.stages = neighbour.stages = stages;
    const std::size_t bytes = product_shared_bytes(shape, d_model, normalises);
    if (bytes > device.shared_bytes) continue;
    if (alone == 0) alone = stages;
    const bool is_enough = static_cast<std::size_t>(stages) * static_cast<std::size_t>(ring_stage_bytes) >=
                           device.bytes_in_flight;
    if (is_enough &&
        bytes + product_shared_bytes(neighbour, d_model, !normalises) + 2 * device.reserved_shared_bytes <=
            device.shared_bytes_of_multiprocessor)
      return shape;
  }
  shape.stages = alone == 0 ? 1 : alone;
  return shape;
}

}  // namespace draftscope::engine::cuda
