// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Packs a product's matrices in the order in which warps read them (piece_layout.h), from uploaded rows or
// groups. It also unpacks them to 16-bit rows for a library's product.

#include "grouped_weights.h"
#include "product_ops.h"
#include "program_params.h"

namespace draftscope::engine::cuda {

/// Calls visit(part, run, row_of) for each part; a block takes a tile at a time, and a warp a part.
/// row_of(half, g) is the weight row of a lane's chunk `half` of two.
template <typename Format, typename Visit>
DRAFTSCOPE_DEVICE void each_part(const PieceParams& p, const Visit& visit) {
  const PassView view{p.pass.model, p.pass.work, p.layer, 0, 0, {}, nullptr};
  const auto weight_row = [&](int half, int tile, int r) {
    switch (p.product) {
      case OperationKind::qkv:
        return QkvOp<Format>::weight_row(view, half, tile, r);
      case OperationKind::gate_up:
        return GateUpOp<Format>::weight_row(view, half, tile, r);
      case OperationKind::head:
        return HeadOp<Format>::weight_row(view, half, tile, r);
      default:
        return ResidualOp<Format>::weight_row(view, half, tile, r);
    }
  };
  for (int tile = block_index(); tile < p.tiles; tile += block_count())
    for (int run = thread_index() / warp_threads; run < p.layout.runs; run += product_slices)
      visit(p.pieces + tile * p.layout.tile_bytes() + p.layout.part_at(run), run,
            [&](int half, int g) { return weight_row(half, tile, g); });
}

template <typename Format>
struct PackPieces {
  using Params = PieceParams;
  static constexpr int threads = product_threads;

  DRAFTSCOPE_DEVICE static void run(const PieceParams& p) {
    each_part<Format>(p, [&](std::byte* part, int run, const auto& row_of) {
      const int lane = thread_index() % warp_threads;
      const int g = lane / run_lanes;
      const int t = lane % run_lanes;
      const int first = run * Format::stage_depth;
      Chunk chunks[lane_rows];
      for (int i = 0; i < lane_rows; ++i) {
        const WeightRow of = row_of(i, g);
        // Rows past the end of a matrix get the numbers of its last row; their sums are not used.
        const std::int64_t row = of.row < of.outputs ? of.row : of.outputs - 1;
        const std::byte* const matrix = p.rows[of.matrix];
        chunks[i] = {};
        if (first + Format::lane_depth(t, 0) < p.depth || Format::is_grouped)
          chunks[i] = *reinterpret_cast<const Chunk*>(matrix + row * Format::row_bytes(p.depth) +
                                                      std::int64_t{run} * run_bytes + t * chunk_bytes);
        if constexpr (Format::is_grouped) {
          if (t != 0) continue;
          const std::byte* const scales = matrix + Format::layout().scales_offset(of.outputs, p.depth, row) +
                                          first / Format::scale_depth * GroupedLayout::scale_step;
          Format::put_run_scales(scales, first % Format::scale_depth,
                                 reinterpret_cast<std::uint32_t*>(part + part_code_bytes) +
                                     (i * scale_rows + g) * Format::scale_words);
        }
      }
      if constexpr (Format::is_paired) pair(chunks[0], chunks[1]);
      for (int i = 0; i < lane_rows; ++i)
        *reinterpret_cast<Chunk*>(part + (i * warp_threads + lane) * chunk_bytes) = chunks[i];
    });
  }
};

/// The numbers of fp8 do not include their output's scale, which is applied to sums instead.
template <typename Format>
struct UnpackPieces {
  using Params = PieceParams;
  static constexpr int threads = product_threads;

  DRAFTSCOPE_DEVICE static void run(const PieceParams& p) {
    const DeviceModel& model = p.pass.model;
    // The first row of each of the product's matrices.
    const int second = p.product == OperationKind::gate_up ? model.d_ff : model.n_heads * model.head_dim;
    const int firsts[3] = {0, second, second + model.n_kv_heads * model.head_dim};
    each_part<Format>(p, [&](const std::byte* part, int run, const auto& row_of) {
      const int lane = thread_index() % warp_threads;
      const int g = lane / run_lanes;
      const int t = lane % run_lanes;
      const auto chunk = [&](int i) {
        return *reinterpret_cast<const Chunk*>(part + (i * warp_threads + lane) * chunk_bytes);
      };
      Chunk held[lane_rows] = {chunk(0), chunk(1)};
      if constexpr (Format::is_paired) unpair(held[0], held[1]);
#pragma unroll
      for (int i = 0; i < lane_rows; ++i) {
        const WeightRow of = row_of(i, g);
        typename Format::Scales scales{};
        if constexpr (Format::is_grouped)
          scales = Format::run_scales(reinterpret_cast<const std::uint32_t*>(part + part_code_bytes) +
                                      (i * scale_rows + g) * Format::scale_words);
#pragma unroll
        for (int index = 0; index < Format::parts; ++index) {
          const Part numbers = Format::part(held[i], index, scales);  // Computed by all lanes together.
          const int k = run * Format::stage_depth + Format::lane_depth(t, index);
          if (k >= p.depth || of.row >= of.outputs) continue;
          *reinterpret_cast<Chunk*>(p.numbers + (std::int64_t{firsts[of.matrix]} + of.row) * p.depth + k) = {
              {numbers.pairs[0], numbers.pairs[1], numbers.pairs[2], numbers.pairs[3]}};
        }
      }
    });
  }
};

}  // namespace draftscope::engine::cuda
