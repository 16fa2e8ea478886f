// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a product is cut up on a device: how many rows its launches compute, and how many weights are on their
// way meanwhile.

#include <cstdint>

#include "gpu.h"
#include "kernels/launch_shape.h"
#include "launch.h"

namespace draftscope::engine::cuda {

/// The shape of each launch for `rows` rows (1 or more), which it takes by `ProductShape::rows`, in a model
/// of `d_model`: of products that normalise their activations, or of the others. The fewest launches come
/// first, for each of them reads all weights: up to max_launch_rows rows are one. Where a block has no room
/// for as many normalised rows beside a stage, they are normalised ahead of the launch (`reads_normed`),
/// which takes a launch of its own and reads them from the second cache. Then come as many stages as the
/// device's memory takes to be busy; then that the block lies beside one of the other kind, so that the next
/// kernel brings weights while this one ends; then more stages. A device whose block holds not even one stage
/// gets that all the same (check_model() refuses it).
[[nodiscard]] ProductShape product_shape(const GpuDescription& device, std::int32_t rows,
                                         std::int32_t d_model, bool normalises,
                                         WeightFormat format = WeightFormat::bf16);

}  // namespace draftscope::engine::cuda
