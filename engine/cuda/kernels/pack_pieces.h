// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A product's matrices, rows or groups as they were uploaded, in the order in which blocks read them
// (piece_layout.h).

#include "program.h"

namespace draftscope::engine::cuda {

template <typename Format>
class PackPieces {
 public:
  using Params = PackParams;
  static constexpr int threads = product_threads;

  /// A block a tile at a time, a warp a part.
  DRAFTSCOPE_DEVICE static void run(const PackParams& p) {
    const DeviceLayer none{};
    const PassView view{p.pass.model, p.pass.work, p.layer != nullptr ? *p.layer : none, 0, 0};
    switch (p.product) {
      case OperationKind::qkv:
        return pack<QkvOp<Format, tile_half>>(p, view);
      case OperationKind::output:
        return pack<OutputOp<Format, tile_half>>(p, view);
      case OperationKind::gate_up:
        return pack<GateUpOp<Format, tile_half>>(p, view);
      case OperationKind::down:
        return pack<DownOp<Format, tile_half>>(p, view);
      default:
        if constexpr (takes_of<Format> == Takes::all) pack<HeadOp<Format, tile_half>>(p, view);
    }
  }

 private:
  template <typename Op>
  DRAFTSCOPE_DEVICE static void pack(const PackParams& p, const PassView& view) {
    const auto weights = Op::weights(view);
    for (int tile = block_index(); tile < p.tiles; tile += block_count())
      for (int run = thread_index() / warp_threads; run < p.layout.runs; run += product_slices)
        pack_part(
            p, run, p.pieces + tile * p.layout.tile_bytes() + p.layout.part_at(run),
            [&](int row, int g) { return Op::weight_row(view, weights, row / 2, tile, g + row % 2 * 8); });
  }

  template <typename RowOf>
  DRAFTSCOPE_DEVICE static void pack_part(const PackParams& p, int run, std::byte* part,
                                          const RowOf& row_of) {
    const int lane = thread_index() % warp_threads;
    const int g = lane / run_lanes;
    const int t = lane % run_lanes;
    const int first = run * Format::stage_depth;
    for (int row = 0; row < lane_rows; ++row) {
      const WeightRow of = row_of(row, g);
      Chunk chunk{};
      if (first + Format::lane_depth(t, 0) < p.depth || Format::is_grouped)
        chunk = *reinterpret_cast<const Chunk*>(of.matrix + of.row * Format::row_bytes(p.depth) +
                                                std::int64_t{run} * run_bytes + t * chunk_bytes);
      *reinterpret_cast<Chunk*>(part + (row * warp_threads + lane) * chunk_bytes) = chunk;
      if constexpr (Format::is_grouped) {
        if (t != 0) continue;
        const std::byte* const scales = of.matrix +
                                        Format::layout().scales_offset(of.outputs, p.depth, of.row) +
                                        first / Format::scale_depth * GroupedLayout::scale_step;
        Format::put_run_scales(scales, first % Format::scale_depth,
                               reinterpret_cast<std::uint32_t*>(part + part_code_bytes) +
                                   (row * scale_rows + g) * Format::scale_words);
      }
    }
  }
};

}  // namespace draftscope::engine::cuda
