// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a product is cut up on a device: how many rows its launches compute, how many weights are on their way
// meanwhile, and how much shared memory keeps its blocks apart.

#include <cstddef>
#include <cstdint>

#include "gpu.h"
#include "kernels/launch_shape.h"
#include "kernels/pass_state.h"
#include "launch.h"

namespace draftscope::engine::cuda {

/// The shape of each launch for `rows` rows (1 or more), which it takes by `ProductShape::rows`, in a model
/// of `d_model`: of products that normalise their activations, or of the others. The fewest launches come
/// first, for each of them reads all weights: max_decode_rows are one where a block has room for their sums
/// beside a stage. Rows beyond max_staged_rows, and fewer where a block has no room for as many, are
/// normalised ahead of the launch (`reads_normed`), which takes a launch of its own and reads them from the
/// second cache. Then come as many stages as fit. A device whose block holds not even one stage gets that all
/// the same (check_model() refuses it).
[[nodiscard]] ProductShape product_shape(const GpuDescription& device, std::int32_t rows,
                                         std::int32_t d_model, bool normalises,
                                         WeightFormat format = WeightFormat::bf16);

/// The kernel that computes a shape: the most rows that its code is for, as Launch::columns has it.
[[nodiscard]] constexpr int product_kernel_columns(const ProductShape& shape) {
  return shape.reads_normed || shape.columns > max_staged_rows ? widest_columns : shape.columns;
}

/// Shared memory that a product's launch asks for: what it uses (product_shared_bytes()), and at least so
/// much that no two blocks of products, of one launch or of two, stand on one multiprocessor. A launch has a
/// block a multiprocessor at most. Kernels start early, while blocks of the one before still run: where two
/// blocks fit beside each other, the multiprocessors that are free first get two of the next kernel and
/// others none, and the pass waits for those with two. On an H200 a pass of one row over Llama-3-8B took 6.13
/// ms so, and 4.78 ms with one block to a multiprocessor (measured); rows that made blocks larger hid it, so
/// that two rows took less time than one. The next product's block follows on each multiprocessor as soon as
/// it is free.
[[nodiscard]] std::size_t product_request(const GpuDescription& device, const ProductShape& shape,
                                          std::int32_t depth, bool normalises);

}  // namespace draftscope::engine::cuda
