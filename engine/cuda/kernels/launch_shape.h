// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sizes of blocks and tiles: a launch and the kernel that it starts must agree on them.

#include <cstddef>
#include <cstdint>

namespace draftscope::engine::cuda {

inline constexpr int warp_threads = 32;

// Products (skinny_product.h)
inline constexpr int product_slices = 8;  ///< warps of a block
inline constexpr int product_threads = product_slices * warp_threads;
inline constexpr int tile_half = 16;  ///< outputs of half a tile
inline constexpr int tile_outputs = 2 * tile_half;
inline constexpr int narrow_half = 8;  ///< those of a narrow tile, half as wide

/// Values of depth that a slice is a multiple of.
inline constexpr int slice_granule = 64;
/// Rows of weights, of 16 bytes each, that a thread holds of a stage.
inline constexpr int stage_chunks = 4;
inline constexpr int ring_stage_bytes = product_threads * stage_chunks * 16;
inline constexpr int max_ring_stages = 4;
/// A thread's 16 bytes of scales, of formats that have groups (grouped_layout.h): beside each stage's chunks.
inline constexpr int ring_scale_bytes = product_threads * 16;
/// Bytes behind the ring that a thread has brought into the second cache, together as many as the ring's.
inline constexpr int fetched_bytes = max_ring_stages * ring_stage_bytes / product_threads;

/// How a product is cut up for a device (product_shape.h).
struct ProductShape {
  std::int32_t columns = 8;                     ///< that its mma compute, 8 or 16
  std::int32_t rows = 8;                        ///< of activations it computes at most, up to `columns`
  std::int32_t stages = max_ring_stages;        ///< of weights on their way: 1, 2 or 4
  std::int32_t stage_bytes = ring_stage_bytes;  ///< and ring_scale_bytes more of formats with groups
};

/// Bytes from one row of staged activations to the next: half a bank cycle off, so that eight lanes that read
/// two rows hit all banks once.
inline constexpr int staged_row_bytes(int depth) {
  return (depth * 2 + 127) / 128 * 128 + 64;
}
inline constexpr std::size_t product_partial_bytes(int columns) {
  return std::size_t{2} * product_slices * tile_outputs * static_cast<std::size_t>(columns) * sizeof(float);
}
/// Sums of the slices, the ring of weights, rows of activations that the product normalises.
inline constexpr std::size_t product_shared_bytes(const ProductShape& shape, int depth, bool normalises) {
  return product_partial_bytes(shape.columns) +
         static_cast<std::size_t>(shape.stages) * static_cast<std::size_t>(shape.stage_bytes) +
         (normalises
              ? static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(staged_row_bytes(depth))
              : 0);
}

// Attention (attention.h)
inline constexpr int attention_warps = 8;
inline constexpr int attention_threads = attention_warps * warp_threads;
inline constexpr int warp_keys = 32;
inline constexpr int split_keys = attention_warps * warp_keys;
inline constexpr int tile_queries = 16;
inline constexpr int dimension_block = 32;  ///< head_dim is a multiple of it
inline constexpr int max_head_dim = 128;

inline constexpr std::size_t attention_shared_bytes(int head_dim) {
  return std::size_t{attention_warps} * tile_queries * (static_cast<std::size_t>(head_dim) + 2) *
         sizeof(float);
}
/// Groups of queries of a K/V head, each of which counts its splits' arrivals; `queries` of the widest
/// launch.
inline constexpr int arrival_groups(int queries) {
  return (queries + tile_queries - 1) / tile_queries;
}
/// Splits that a cache of `rows` rows can have.
inline constexpr int max_splits(int rows) {
  return (rows + split_keys - 1) / split_keys;
}

// The rest (pass_ops.h)
inline constexpr int row_threads = 256;
/// Shared memory of kernels that bring a block's candidates together; the largest of them takes 16 bytes a
/// thread.
inline constexpr std::size_t row_shared_bytes = std::size_t{row_threads} * 16;
/// Shared memory of kernels that cut a distribution (sampling.h): sums by 16 digits, a double a thread and
/// one for all.
inline constexpr std::size_t sampling_shared_bytes = std::size_t{16} * (row_threads + 1) * sizeof(double);

}  // namespace draftscope::engine::cuda
