// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Defines where a product's weights lie in device memory: in the order in which warps read them, both for
// packing and for the kernel that reads them; nothing in it is specific to the device.
//
//   Tile    16 outputs, in two halves of 8. Tiles follow one another, an even number of them
//   Run     64 bytes of a row: 32 to 128 values of k, depending on the format. The last run of a row may be
//           shorter, and is padded with zeros
//   Slice   the runs of a tile's rows that one of eight warps multiplies: equally many for all but the last
//           warps, which may have fewer or none. Slices follow one another
//   Part    a run of all rows of a tile. Each lane has two chunks of 16 bytes, [half][lane 4g + t]: chunk t
//           of the run of row g. In 16-bit weights the words of the two rows alternate (pair()), as an mma
//           takes them. Scales follow in formats that have some, [half][g], with the words per run of the
//           format
//   Piece   consecutive parts of a slice, transferred by one copy

#include "grouped_layout.h"
#include "launch_shape.h"

namespace draftscope::engine::cuda {

/// Rows of a tile of which a lane has a chunk: one of each half.
inline constexpr int lane_rows = 2;
inline constexpr int part_code_bytes = lane_rows * warp_threads * chunk_bytes;
/// Maximum parts per copy: of 16-bit weights, and of weights in fewer bits, whose parts have more values.
inline constexpr int max_copied_parts = 8;
inline constexpr int max_copied_code_parts = 4;

struct PieceLayout {
  std::int32_t runs = 0;        ///< Runs of a row.
  std::int32_t slice_runs = 0;  ///< Maximum runs of a warp's slice.
  std::int32_t part_bytes = 0;

  /// Runs of the slice of warp `warp`.
  [[nodiscard]] constexpr std::int32_t runs_of(std::int32_t warp) const {
    const std::int32_t left = runs - warp * slice_runs;
    return left < 0 ? 0 : left < slice_runs ? left : slice_runs;
  }
  [[nodiscard]] constexpr std::int64_t tile_bytes() const { return std::int64_t{runs} * part_bytes; }
  /// Offset of a part from the start of its tile, in bytes.
  [[nodiscard]] constexpr std::int64_t part_at(std::int32_t run) const {
    return std::int64_t{run} * part_bytes;
  }
};

/// Bytes of a part. `scale_words` is the number of words of scales per run of a row.
[[nodiscard]] constexpr std::int32_t part_bytes_of(std::int32_t scale_words) {
  return part_code_bytes + lane_rows * scale_rows * 4 * scale_words;
}

/// Layout of a product's pieces. `run_depth` is the number of values of k in a run.
[[nodiscard]] constexpr PieceLayout piece_layout(std::int32_t depth, std::int32_t run_depth,
                                                 std::int32_t scale_words) {
  const std::int32_t granules = (depth + slice_granule - 1) / slice_granule;
  const std::int32_t slice_depth = (granules + product_slices - 1) / product_slices * slice_granule;
  return {(depth + run_depth - 1) / run_depth, slice_depth / run_depth, part_bytes_of(scale_words)};
}

}  // namespace draftscope::engine::cuda
