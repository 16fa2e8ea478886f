// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A product of weights that come through rings (weight_stream.h) with up to 64 rows of activations. Tensor
// cores multiply, with the rows as the short side, so that eight rows cost what one costs.
//
// A block takes each `blocks`-th tile of 32 outputs. Each of its eight warps multiplies a slice of the depth;
// slices are added in a fixed order, and a column of an mma depends on its own row of activations alone. So a
// row's bits depend neither on the other rows nor on how many blocks there are, nor on the ring.

#include "grouped_weights.h"
#include "piece_layout.h"
#include "weight_stream.h"
#include "weights.h"

namespace draftscope::engine::cuda {

struct StreamedJob {
  PieceLayout layout;
  std::int32_t tiles;
  std::int32_t depth;
  std::int32_t rows;
};

/// `column_tiles`: the most that the code computes, of eight rows each.
template <typename Format, int column_tiles>
class StreamedProduct {
  using Activation = typename Format::Activation;
  using Scales = typename Format::Scales;
  static constexpr int parts = Format::parts;
  /// Registers of a thread that `runs` runs of activations take, beside the sums.
  static constexpr int registers_of(int runs) { return column_tiles * (8 + 4 * parts * runs); }
  /// Runs whose activations are asked for ahead, as far as registers hold them: the second cache takes as
  /// long to answer as some runs last.
  static constexpr int ahead_runs = [] {
    for (int runs = max_copied_parts; runs > 0; runs /= 2)
      if (registers_of(runs) <= 48) return runs;
    return 0;
  }();
  using Ahead = Part[ahead_runs > 0 ? ahead_runs : 1][parts][column_tiles];

 public:
  /// `row_of(column)`: a row's 16-bit values, [depth]. `finish(tile, r, column, is_present, upper, lower)`
  /// takes output r of both halves of a tile for one row; all lanes of a warp call it together, 16 lanes a
  /// row.
  template <typename RowOf, typename Finish>
  DRAFTSCOPE_DEVICE static void run(const StreamedJob& job, WeightStream& weights, const RowOf& row_of,
                                    const Finish& finish) {
    StreamedProduct product(job);
    int turn = 0;
    for (int tile = block_index(); tile < job.tiles; tile += block_count()) {
      float sums[2][column_tiles][4] = {};
      product.multiply(weights, row_of, sums);
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile) {
        if (column_tile * 8 >= job.rows) continue;
        product.store(turn, sums, column_tile);
        synchronise();
        product.finish_columns(turn, tile, column_tile, finish);
        turn ^= 1;
      }
    }
  }

 private:
  DRAFTSCOPE_DEVICE explicit StreamedProduct(const StreamedJob& job)
      : job_(job),
        warp_(thread_index() / warp_threads),
        lane_(thread_index() % warp_threads),
        g_(lane_ / 4),
        t_(lane_ % 4),
        first_depth_(warp_ * job.layout.slice_runs * Format::stage_depth) {}

  template <typename RowOf>
  DRAFTSCOPE_DEVICE void multiply(WeightStream& weights, const RowOf& row_of,
                                  float (&sums)[2][column_tiles][4]) const {
    const int runs = job_.layout.runs_of(warp_);
    if constexpr (ahead_runs > 0) {
      Ahead ahead;
#pragma unroll
      for (int i = 0; i < ahead_runs; ++i)
        if (i < weights.parts() && i < runs) bring(row_of, i, ahead[i]);
#pragma unroll 1
      for (int first = 0; first < runs; first += weights.parts()) {
        // Without a branch, where a piece is whole.
        const bool is_whole = runs - first >= weights.parts();
        if (is_whole && weights.parts() == 4)
          multiply_piece<4>(weights, row_of, first, runs, ahead, sums);
        else if (is_whole && weights.parts() == 2)
          multiply_piece<2>(weights, row_of, first, runs, ahead, sums);
        else
          multiply_piece<0>(weights, row_of, first, runs, ahead, sums);
      }
    } else {
      const std::byte* part = nullptr;
      int left = 0;  // parts of the piece
#pragma unroll 1
      for (int run = 0; run < runs; ++run) {
        if (left == 0) {
          part = weights.take();
          left = weights.parts();
        }
        Chunk held[lane_rows];
        Scales scales[lane_rows];
        read(part, held, scales);
        part += job_.layout.part_bytes;
        if (--left == 0 || run + 1 == runs) weights.give_back();
#pragma unroll
        for (int of_run = 0; of_run < parts; ++of_run) {
          const Numbers numbers_of_part = numbers(held, scales, of_run);
#pragma unroll
          for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
            if (column_tile * 8 < job_.rows)
              multiply_tile(numbers_of_part, row_part(row_of, run, of_run, column_tile), column_tile, sums);
        }
      }
    }
  }

  /// The next piece, which begins with run `first`. `whole`: its parts, or 0 if only the stream knows.
  template <int whole, typename RowOf>
  DRAFTSCOPE_DEVICE void multiply_piece(WeightStream& weights, const RowOf& row_of, int first, int runs,
                                        Ahead& ahead, float (&sums)[2][column_tiles][4]) const {
    const std::byte* const piece = weights.take();
    const int of_piece = whole > 0 ? whole : weights.parts();
    const int distance = of_piece < ahead_runs ? of_piece : ahead_runs;
#pragma unroll
    for (int i = 0; i < (whole > 0 ? whole : max_copied_parts); ++i) {
      const int run = first + i;
      if (whole == 0 && (i >= of_piece || run >= runs)) continue;
      Chunk held[lane_rows];
      Scales scales[lane_rows];
      read(piece + i * job_.layout.part_bytes, held, scales);
      if (i + 1 == of_piece || (whole == 0 && run + 1 == runs)) weights.give_back();
#pragma unroll
      for (int of_run = 0; of_run < parts; ++of_run) {
        const Numbers numbers_of_part = numbers(held, scales, of_run);
#pragma unroll
        for (int column_tile = 0; column_tile < column_tiles; ++column_tile) {
          Part& x = ahead[i % ahead_runs][of_run][column_tile];
          multiply_tile(numbers_of_part, x, column_tile, sums);
          x = row_part(row_of, run + distance, of_run, column_tile, run + distance < runs);
        }
      }
    }
  }

  /// This lane's chunks of a part, and what scales they have.
  DRAFTSCOPE_DEVICE void read(const std::byte* part, Chunk (&held)[lane_rows],
                              Scales (&scales)[lane_rows]) const {
#pragma unroll
    for (int row = 0; row < lane_rows; ++row)
      held[row] = *reinterpret_cast<const Chunk*>(part + (row * warp_threads + lane_) * chunk_bytes);
    if constexpr (Format::is_grouped)
#pragma unroll
      for (int row = 0; row < lane_rows; ++row)
        scales[row] = Format::run_scales(reinterpret_cast<const std::uint32_t*>(part + part_code_bytes) +
                                         (row * scale_rows + g_) * Format::scale_words);
  }

  /// This lane's values of a part of a run, of the row of its column in a tile of columns.
  template <typename RowOf>
  [[nodiscard]] DRAFTSCOPE_DEVICE Part row_part(const RowOf& row_of, int run, int part, int column_tile,
                                                bool is_needed = true) const {
    const int k = first_depth_ + run * Format::stage_depth + Format::lane_depth(t_, part);
    const int column = column_tile * 8 + g_;
    const auto* const at = reinterpret_cast<const Chunk*>(row_of(column) + std::int64_t{k} * 2);
    const bool is_there = is_needed && column < job_.rows && k < job_.depth;
    Chunk chunk{};
    if constexpr (ahead_runs > 0)
      chunk = load_if(is_there, at);
    else if (is_there)  // one by one: registers hold few
      chunk = *at;
    return {{chunk.words[0], chunk.words[1], chunk.words[2], chunk.words[3]}};
  }
  template <typename RowOf>
  DRAFTSCOPE_DEVICE void bring(const RowOf& row_of, int run, Part (&x)[parts][column_tiles]) const {
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
        x[part][column_tile] = row_part(row_of, run, part, column_tile);
  }

  /// A part of both halves' rows of weights, [half][g or g + 8].
  struct Numbers {
    Part rows[2][2];
  };
  [[nodiscard]] DRAFTSCOPE_DEVICE static Numbers numbers(const Chunk (&held)[lane_rows],
                                                         const Scales (&scales)[lane_rows], int part) {
    Numbers result;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Chunk rows[2]{held[2 * half], held[2 * half + 1]};
      if constexpr (Format::is_paired) unpair(rows[0], rows[1]);
#pragma unroll
      for (int row = 0; row < 2; ++row)
        result.rows[half][row] = Format::part(rows[row], part, scales[2 * half + row]);
    }
    return result;
  }
  DRAFTSCOPE_DEVICE static void multiply_tile(const Numbers& weights, const Part& x, int column_tile,
                                              float (&sums)[2][column_tiles][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Part& low = weights.rows[half][0];
      const Part& high = weights.rows[half][1];
#pragma unroll
      for (int i = 0; i < 4; i += 2)
        Activation::multiply_accumulate(sums[half][column_tile], low.pairs[i], high.pairs[i],
                                        low.pairs[i + 1], high.pairs[i + 1], x.pairs[i], x.pairs[i + 1]);
    }
  }

  DRAFTSCOPE_DEVICE static float* partial(int turn, int warp) {
    return reinterpret_cast<float*>(shared_memory()) + (turn * product_slices + warp) * 8 * column_stride;
  }

  DRAFTSCOPE_DEVICE void store(int turn, const float (&sums)[2][column_tiles][4], int column_tile) const {
    float* const to = partial(turn, warp_) + t_ * 2 * column_stride + g_;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        to[i % 2 * column_stride + half * tile_half + i / 2 * 8] = sums[half][column_tile][i];
  }

  /// By half of the threads.
  template <typename Finish>
  DRAFTSCOPE_DEVICE void finish_columns(int turn, int tile, int column_tile, const Finish& finish) const {
    const int r = thread_index() % tile_half;
    const int column = thread_index() / tile_half;
    if (column >= 8) return;
    float halves[2];
    for (int half = 0; half < 2; ++half) {
      float sum = 0.0F;
      for (int slice = 0; slice < product_slices; ++slice)
        sum += partial(turn, slice)[column * column_stride + half * tile_half + r];
      halves[half] = sum;
    }
    const int row = column_tile * 8 + column;
    finish(tile, r, row, row < job_.rows, halves[0], halves[1]);
  }

  const StreamedJob& job_;
  int warp_, lane_;
  int g_;  ///< which of eight rows of weights, and of activations, this lane reads
  int t_;  ///< which of the four lanes that share them
  int first_depth_;
};

}  // namespace draftscope::engine::cuda
