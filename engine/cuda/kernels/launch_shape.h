// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sizes of blocks and tiles: a launch and the kernel that it starts must agree on them.

#include <cstddef>
#include <cstdint>

namespace draftscope::engine::cuda {

inline constexpr int warp_threads = 32;

// Sizes of products (streamed_product.h).
inline constexpr int product_slices = 8;  ///< Warps of a block.
inline constexpr int product_threads = product_slices * warp_threads;
inline constexpr int mma_rows = 8;   ///< Rows of activations that one mma multiplies.
inline constexpr int tile_half = 8;  ///< Outputs of half a tile.
inline constexpr int tile_outputs = 2 * tile_half;
inline constexpr int max_row_tiles = 2;  ///< Tiles that a block takes at once.
/// Tiles of a product: an even number, since a block may take two at once.
inline constexpr int tiles_of(int outputs) {
  constexpr int together = max_row_tiles * tile_outputs;
  return (outputs + together - 1) / together * max_row_tiles;
}

/// The depth of a slice is a multiple of this.
inline constexpr int slice_granule = 128;
/// Maximum places of a warp's ring (weight_stream.h).
inline constexpr int max_ring_places = 16;

/// Distance in floats from the sums of one column of the tiles to the next column's. Lanes that store hit all
/// banks.
inline constexpr int column_stride = max_row_tiles * tile_outputs + 4;
/// Sums of the slices, eight columns at a time, twice: one half is written while the other is read.
inline constexpr std::size_t streamed_partial_bytes =
    std::size_t{2} * product_slices * 8 * column_stride * sizeof(float);

/// Bytes from one row of staged activations to the next: half a bank cycle off, so that eight lanes that read
/// two rows hit all banks once.
inline constexpr int staged_row_bytes(int depth) {
  return (depth * 2 + 127) / 128 * 128 + 64;
}

// Sizes of attention (attention.h, attention_plan.h).
inline constexpr int max_attention_rows = 64;
inline constexpr int attention_warps = 8;
inline constexpr int attention_threads = attention_warps * warp_threads;
inline constexpr int warp_keys = 32;
inline constexpr int split_keys = attention_warps * warp_keys;
inline constexpr int split_group = 4;  ///< Splits that are added before groups are.
inline constexpr int tile_queries = 16;
inline constexpr int max_item_tiles = 2;
inline constexpr int dimension_block = 32;  ///< head_dim is a multiple of it.
inline constexpr int max_head_dim = 128;
/// Floats from one query's sums of a run to the next query's: a block of dimensions plus padding. The padding
/// avoids bank conflicts of lanes that access sixteen bytes of two queries.
inline constexpr int run_sum_stride = dimension_block + 4;
/// Shared memory for the work description that the threads of a block, or of each warp, share.
inline constexpr std::size_t warp_work_bytes = 80;
inline constexpr std::size_t block_work_bytes = attention_warps * warp_work_bytes;

/// Shared memory of an item of one tile, in floats: queries, weights, the maxima, sums of weights and factors
/// of the runs, their sums of values, and a group's values.
inline constexpr std::size_t attention_tile_floats(int head_dim) {
  constexpr std::size_t queries = tile_queries;
  constexpr std::size_t weights = queries * split_keys / 2;
  constexpr std::size_t statistics = queries * attention_warps * 3;
  constexpr std::size_t sums = queries * attention_warps * run_sum_stride;
  return queries * static_cast<std::size_t>(head_dim) / 2 + weights + statistics + sums +
         queries * static_cast<std::size_t>(head_dim);
}
/// Shared memory of a block in bytes. `queries` counts all rows' queries of a K/V head's group. `max_tiles`
/// is the maximum per item.
inline constexpr std::size_t attention_shared_bytes(int head_dim, int queries, int max_tiles) {
  const int tiles = queries > tile_queries ? max_tiles : 1;
  return block_work_bytes + static_cast<std::size_t>(tiles) * attention_tile_floats(head_dim) * sizeof(float);
}
// Sizes of the attention of wide passes (prefill_attention.h).
inline constexpr int prefill_queries = attention_warps * tile_queries;  ///< Queries per block.
inline constexpr int prefill_keys = 32;                                 ///< Keys per tile.
inline constexpr int prefill_stages = 3;                                ///< Tiles in shared memory.
/// Bytes from one staged row of values to the next. Lanes that read eight bytes of every second of four pairs
/// of rows hit all banks once.
inline constexpr int prefill_value_bytes(int head_dim) {
  return head_dim * 2 + 16;
}
inline constexpr int prefill_stage_bytes(int head_dim) {
  return prefill_keys * (staged_row_bytes(head_dim) + prefill_value_bytes(head_dim));
}
/// Shared memory for a block's work, including three numbers per query and two per warp.
inline constexpr std::size_t prefill_work_bytes =
    block_work_bytes + std::size_t{3 * prefill_queries + 2 * attention_warps} * sizeof(std::int32_t);
inline constexpr int prefill_blocks(int rows, int n_heads, int n_kv_heads) {
  return (rows * (n_heads / n_kv_heads) + prefill_queries - 1) / prefill_queries * n_kv_heads;
}
inline constexpr std::size_t prefill_shared_bytes(int head_dim) {
  return prefill_work_bytes + std::size_t{attention_threads} * 4 * sizeof(float) +
         static_cast<std::size_t>(prefill_queries * head_dim * 2 +
                                  prefill_stages * prefill_stage_bytes(head_dim));
}

/// Maximum splits of a cache of `rows` rows.
inline constexpr int max_splits(int rows) {
  return (rows + split_keys - 1) / split_keys;
}
/// Maximum sums of a query that there is room for: of splits, or of runs where these are stored.
inline constexpr int max_kept_sums(int rows) {
  return max_splits(rows) < split_group * attention_warps ? split_group * attention_warps : max_splits(rows);
}

// Sizes of all other kernels (pass_ops.h).
inline constexpr int row_threads = 256;
/// Shared memory of kernels that combine a block's candidates; the largest of them takes 16 bytes per thread.
inline constexpr std::size_t row_shared_bytes = std::size_t{row_threads} * 16;
/// Shared memory of kernels that cut a distribution (sampling.h): sums by 16 digits, with a double per thread
/// and one total.
inline constexpr std::size_t sampling_shared_bytes = std::size_t{16} * (row_threads + 1) * sizeof(double);

}  // namespace draftscope::engine::cuda
