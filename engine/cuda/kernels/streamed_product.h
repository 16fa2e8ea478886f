// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A product of weights that arrive through rings (weight_stream.h) with up to 32 rows of activations. Tensor
// cores multiply, with the rows as the short side, so that eight rows cost as much as one.
//
// A block takes every `blocks`-th tile of 16 outputs. Where rows are many it takes every `blocks`-th pair of
// tiles, since their activations would otherwise be loaded twice as often. Each of its eight warps multiplies
// a slice of the depth; slices are added in a fixed order, and a column of an mma depends on its own row of
// activations alone. So a row's bits depend neither on the other rows nor on the number of blocks, nor on the
// ring.

#include "grouped_weights.h"
#include "piece_layout.h"
#include "product_ops.h"
#include "weight_stream.h"
#include "weights.h"

namespace draftscope::engine::cuda {

struct StreamedJob {
  PieceLayout layout;
  std::int32_t tiles;
  std::int32_t depth;
  std::int32_t rows;
  const std::byte* first_row;  ///< Activations, 16-bit values [depth]; in device or shared memory.
  std::int32_t row_bytes;      ///< Distance from one row to the next.
};

/// Multiplies up to `column_tiles` column tiles of eight rows each. `max_parts` is the maximum per piece.
template <typename Format, int column_tiles, int max_parts>
class StreamedProduct {
  using Activation = typename Format::Activation;
  using Scales = typename Format::Scales;
  static constexpr int row_tiles =
      column_tiles == 1 ? 1 : max_row_tiles;  ///< Row tiles that a block takes at once.
  static constexpr int parts = Format::parts;
  /// Registers of a thread for the sums and for `runs` runs of activations.
  static constexpr int registers_of(int runs) { return column_tiles * (4 * row_tiles + 4 * parts * runs); }
  /// Runs whose activations are prefetched, as far as registers allow: the latency of the L2 cache is as long
  /// as some runs take.
  static constexpr int ahead_runs = [] {
    for (int runs = max_parts; runs > 0; runs /= 2)
      if (registers_of(runs) <= 48) return runs;
    return 0;
  }();
  using Ahead = Part[ahead_runs > 0 ? ahead_runs : 1][parts][column_tiles];
  using Sums = float[row_tiles][column_tiles][4];

 public:
  /// `stream` is the warp's stream in shared memory. `ends.finish(tile, r, column, is_present, upper, lower,
  /// early)` takes output r of both halves of a tile for one row; all lanes of a warp call it together, 8
  /// lanes per row. `early` is the result of ends.bring(tile, r, column) before the tile was multiplied, if
  /// the row is present.
  template <typename Ends>
  DRAFTSCOPE_DEVICE static void run(const StreamedJob& job, WeightStream& stream, const Ends& ends) {
    StreamedProduct product(job);
    int turn = 0;
    for (int tile = block_index() * row_tiles; tile < job.tiles; tile += block_count() * row_tiles) {
      Early early[column_tiles];
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile) {
        const Output of = product.output_of_thread(tile, column_tile);
        if (of.is_finished_here && of.is_present) early[column_tile] = ends.bring(of.tile, of.r, of.column);
      }
      Sums sums = {};
      WeightStream weights = stream;  // It stays in registers while they multiply.
      product.multiply(weights, sums);
      weights.keep(stream);
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile) {
        if (column_tile * mma_rows >= job.rows) continue;
        product.store(turn, sums, column_tile);
        synchronise();
        product.finish_columns(turn, product.output_of_thread(tile, column_tile), early[column_tile], ends);
        turn ^= 1;
      }
    }
  }

 private:
  /// This lane's chunks of a part of a tile, and their scales.
  struct Held {
    Chunk chunks[lane_rows];
    Scales scales[lane_rows];
  };
  /// A part of a tile, decoded to numbers.
  struct Numbers {
    Part halves[2];  ///< A part of this lane's row for each half.
  };

  DRAFTSCOPE_DEVICE explicit StreamedProduct(const StreamedJob& job)
      : job_(job),
        warp_(thread_index() / warp_threads),
        lane_(thread_index() % warp_threads),
        g_(lane_ / 4),
        t_(lane_ % 4),
        first_depth_(warp_ * job.layout.slice_runs * Format::stage_depth) {}

  DRAFTSCOPE_DEVICE void multiply(WeightStream& weights, Sums& sums) const {
    const int runs = job_.layout.runs_of(warp_);
    if constexpr (ahead_runs > 0) {
      Ahead ahead;
#pragma unroll
      for (int i = 0; i < ahead_runs; ++i)
        if (i < weights.parts() && i < runs) bring(i, ahead[i]);
#pragma unroll 1
      for (int first = 0; first < runs; first += weights.parts()) {
        const int left = runs - first < weights.parts() ? runs - first : weights.parts();
        // The usual number of parts is multiplied without a branch per part.
        if (left == max_parts)
          multiply_piece<max_parts, true>(weights, first, runs, ahead, sums);
        else if (left == max_parts / 2)
          multiply_piece<max_parts / 2, true>(weights, first, runs, ahead, sums);
        else
          multiply_piece<max_parts, false>(weights, first, runs, ahead, sums);
      }
    } else {
      const std::byte* part[row_tiles] = {};
      int left = 0;  // Parts of the pieces.
#pragma unroll 1
      for (int run = 0; run < runs; ++run) {
        if (left == 0) {
          take(weights, part);
          left = weights.parts();
        }
        Held held[row_tiles];
#pragma unroll
        for (int tile = 0; tile < row_tiles; ++tile) {
          held[tile] = read(part[tile]);
          part[tile] += job_.layout.part_bytes;
        }
        if (--left == 0 || run + 1 == runs) weights.give_back(row_tiles);
#pragma unroll
        for (int of_run = 0; of_run < parts; ++of_run) {
          Part x[column_tiles];
#pragma unroll
          for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
            x[column_tile] = row_part(run, of_run, column_tile);
#pragma unroll
          for (int tile = 0; tile < row_tiles; ++tile) {
            const Numbers numbers_of_part = numbers(held[tile], of_run);
#pragma unroll
            for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
              multiply_tile(numbers_of_part, x[column_tile], sums[tile][column_tile]);
          }
        }
      }
    }
  }

  /// Takes the next piece of each tile.
  DRAFTSCOPE_DEVICE static void take(WeightStream& weights, const std::byte* (&pieces)[row_tiles]) {
#pragma unroll
    for (int tile = 0; tile < row_tiles; ++tile) pieces[tile] = weights.take(tile);
  }

  /// Multiplies the next pieces, which begin with run `first`. `most` is their number of parts, or its
  /// maximum unless the piece is whole.
  template <int most, bool is_whole>
  DRAFTSCOPE_DEVICE void multiply_piece(WeightStream& weights, int first, int runs, Ahead& ahead,
                                        Sums& sums) const {
    const std::byte* pieces[row_tiles];
    take(weights, pieces);
    const int of_piece = is_whole ? most : weights.parts();
    const int distance = of_piece < ahead_runs ? of_piece : ahead_runs;
#pragma unroll
    for (int i = 0; i < most; ++i) {
      const int run = first + i;
      if (!is_whole && (i >= of_piece || run >= runs)) continue;
      Held held[row_tiles];
#pragma unroll
      for (int tile = 0; tile < row_tiles; ++tile)
        held[tile] = read(pieces[tile] + i * job_.layout.part_bytes);
      if (i + 1 == of_piece || (!is_whole && run + 1 == runs)) weights.give_back(row_tiles);
#pragma unroll
      for (int of_run = 0; of_run < parts; ++of_run) {
        Numbers numbers_of_part[row_tiles];
#pragma unroll
        for (int tile = 0; tile < row_tiles; ++tile) numbers_of_part[tile] = numbers(held[tile], of_run);
#pragma unroll
        for (int column_tile = 0; column_tile < column_tiles; ++column_tile) {
          Part& x = ahead[i % ahead_runs][of_run][column_tile];
#pragma unroll
          for (int tile = 0; tile < row_tiles; ++tile)
            multiply_tile(numbers_of_part[tile], x, sums[tile][column_tile]);
          x = row_part(run + distance, of_run, column_tile, run + distance < runs);
        }
      }
    }
  }

  [[nodiscard]] DRAFTSCOPE_DEVICE Held read(const std::byte* part) const {
    Held held;
#pragma unroll
    for (int half = 0; half < lane_rows; ++half)
      held.chunks[half] = *reinterpret_cast<const Chunk*>(part + (half * warp_threads + lane_) * chunk_bytes);
    if constexpr (Format::is_grouped)
#pragma unroll
      for (int half = 0; half < lane_rows; ++half)
        held.scales[half] =
            Format::run_scales(reinterpret_cast<const std::uint32_t*>(part + part_code_bytes) +
                               (half * scale_rows + g_) * Format::scale_words);
    return held;
  }

  /// This lane's values of a part of a run, for its column's row in a tile of columns.
  [[nodiscard]] DRAFTSCOPE_DEVICE Part row_part(int run, int part, int column_tile,
                                                bool is_needed = true) const {
    const int k = first_depth_ + run * Format::stage_depth + Format::lane_depth(t_, part);
    const int column = column_tile * mma_rows + g_;
    // One address plus offsets saves a register per column.
    const auto* const at = reinterpret_cast<const Chunk*>(job_.first_row + (column * job_.row_bytes + k * 2));
    const bool is_there = is_needed && column < job_.rows && k < job_.depth;
    const Chunk chunk = load_if(is_there, at);
    return {{chunk.words[0], chunk.words[1], chunk.words[2], chunk.words[3]}};
  }
  DRAFTSCOPE_DEVICE void bring(int run, Part (&x)[parts][column_tiles]) const {
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
        x[part][column_tile] = row_part(run, part, column_tile);
  }

  [[nodiscard]] DRAFTSCOPE_DEVICE static Numbers numbers(const Held& held, int part) {
    Chunk chunks[lane_rows] = {held.chunks[0], held.chunks[1]};
    if constexpr (Format::is_paired) unpair(chunks[0], chunks[1]);
    Numbers result;
#pragma unroll
    for (int half = 0; half < lane_rows; ++half)
      result.halves[half] = Format::part(chunks[half], part, held.scales[half]);
    return result;
  }
  DRAFTSCOPE_DEVICE static void multiply_tile(const Numbers& weights, const Part& x, float (&sums)[4]) {
    const auto& [upper, lower] = weights.halves;
#pragma unroll
    for (int i = 0; i < 4; i += 2)
      Activation::multiply_accumulate(sums, upper.pairs[i], lower.pairs[i], upper.pairs[i + 1],
                                      lower.pairs[i + 1], x.pairs[i], x.pairs[i + 1]);
  }

  DRAFTSCOPE_DEVICE static float* partial(int turn, int warp) {
    return reinterpret_cast<float*>(shared_memory()) +
           (turn * product_slices + warp) * mma_rows * column_stride;
  }

  DRAFTSCOPE_DEVICE void store(int turn, const Sums& sums, int column_tile) const {
    float* const to = partial(turn, warp_) + t_ * 2 * column_stride + g_;
#pragma unroll
    for (int tile = 0; tile < row_tiles; ++tile)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        to[i % 2 * column_stride + tile * tile_outputs + i / 2 * tile_half] = sums[tile][column_tile][i];
  }

  /// The output of the tiles that this thread finishes, if its warp is one of those that finish outputs.
  struct Output {
    int tile, r, column;
    bool is_present;  ///< Whether the job has that row.
    bool is_finished_here;
  };
  [[nodiscard]] DRAFTSCOPE_DEVICE Output output_of_thread(int first_tile, int column_tile) const {
    const int tile = thread_index() / (tile_half * mma_rows);
    const int column = column_tile * mma_rows + thread_index() / tile_half % mma_rows;
    return {first_tile + tile, thread_index() % tile_half, column, column < job_.rows, tile < row_tiles};
  }

  template <typename Ends>
  DRAFTSCOPE_DEVICE void finish_columns(int turn, const Output& of, const Early& early,
                                        const Ends& ends) const {
    if (!of.is_finished_here) return;
    const int place = of.column % mma_rows * column_stride + of.tile % row_tiles * tile_outputs + of.r;
    float halves[2];
    for (int half = 0; half < 2; ++half) {
      float sum = 0.0F;
      for (int slice = 0; slice < product_slices; ++slice)
        sum += partial(turn, slice)[place + half * tile_half];
      halves[half] = sum;
    }
    ends.finish(of.tile, of.r, of.column, of.is_present, halves[0], halves[1], early);
  }

  const StreamedJob& job_;
  int warp_, lane_;
  int g_;  ///< Number, of eight, of the row of weights and of activations that this lane reads.
  int t_;  ///< Number among the four lanes that share a row.
  int first_depth_;
};

}  // namespace draftscope::engine::cuda
