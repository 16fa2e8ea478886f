// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The product that decides decode speed: a weight matrix times up to 64 rows of activations. Weights stream
// from memory once, through a ring in shared memory; tensor cores multiply them with the rows as the short
// side, so that eight rows cost what one costs. `columns` is the most rows that the code is for; it computes
// those that there are, eight at a time.
//
// Each lane copies 16 bytes at a time into places of the ring that it alone reads: no barrier stands between
// copy and use. A stage is what a block's lanes take at once, 16 KiB; up to four are on their way, and one is
// waited for at a time, also from one tile to the next and before the kernels ahead have ended. As much again
// is on its way into the second cache then. scripts/sass holds all of this in the machine code.
//
// Blocks are persistent and walk over tiles of 32 outputs, in two halves of 16; or of 16, where those divide
// better among the multiprocessors: the halves then are the two halves of one mma, and a stage is twice as
// deep. Each of a block's eight warps
// takes a slice of the depth; slices are added in a fixed order, and a column of an mma depends on its own
// row of activations alone. So a row's bits depend neither on the other rows nor on how many blocks there
// are, nor on the ring, nor on the width of a tile. A block takes half of a multiprocessor's registers at
// most, so that the next kernel's can start beside it and bring its first weights; ProductShape keeps shared
// memory within that, where it can.
//
// An Op says what is multiplied and what becomes of the sums:
//
// clang-format off
//   | member                                              | meaning                                                     |
//   | --------------------------------------------------- | ----------------------------------------------------------- |
//   | Params                                              | the kernel's argument: `work`, `model`, … and `row_begin`,  |
//   |                                                     | the first row of this launch                                |
//   | static constexpr bool normalises                    | whether activations are RMS-normalised residuals, staged in |
//   |                                                     | shared memory                                               |
//   | runs(p)                                             | whether this sublayer runs                                  |
//   | job(p)                                              | tiles and depth; no tiles where layers are in two formats   |
//   |                                                     | and this one has none of the matrices                       |
//   | Weights, weights(p)                                 | where its matrices begin                                    |
//   | weight_row(p, weights, half, tile, r)               | weight row r of a half of a tile, and its matrix; always    |
//   |                                                     | readable                                                    |
//   | activations(p)                                      | 16-bit rows [.][depth] in global memory (ops that do not    |
//   |                                                     | normalise)                                                  |
//   | norm(p)                                             | the norm's weights, or null to only round (ops that         |
//   |                                                     | normalise)                                                  |
//   | finish(p, job, tile, r, row, present, upper, lower) | takes output r of both halves for one row; all lanes of a   |
//   |                                                     | warp call it together, 16 lanes a row (8 of narrow tiles)   |
// clang-format on
//
// Formats with groups (grouped_weights.h) bring 16 bytes of scales beside some of a stage's chunks: lane t of
// the four that share rows those of the stage's row t. So these places of the ring are read by the lanes of a
// warp, which meet before they read them and before they are given away.
//
// runs(), job(), weights() and weight_row() are called before the wait for the kernels before, and so read
// nothing that any of those writes (wait_for_previous_kernel()).

#include "grouped_weights.h"
#include "pass_state.h"
#include "row_norm.h"
#include "weights.h"

namespace draftscope::engine::cuda {

struct ProductJob {
  std::int32_t tiles;
  std::int32_t depth;
};

/// A row of a matrix [outputs][.] in device memory.
struct WeightRow {
  const std::byte* matrix;
  std::int32_t row;
  std::int32_t outputs;
};

template <typename Format, int columns, int half_outputs, typename Op>
class SkinnyProduct {
  using Activation = typename Format::Activation;
  using Scales = typename Format::Scales;
  using Params = typename Op::Params;
  static constexpr int column_tiles = columns / 8;
  static constexpr int products = half_outputs / 8;  ///< mma of a tile, each of 16 outputs
  static constexpr int depths = 2 / products;        ///< chunks that a stage takes of each row of weights
  static constexpr int source_rows = stage_chunks / depths;
  static constexpr int stage_depth = depths * Format::stage_depth;
  static_assert(columns == 8 || columns == 16 || columns == widest_columns);
  static_assert(half_outputs == tile_half || half_outputs == narrow_half);

 public:
  DRAFTSCOPE_DEVICE static void run(const Params& p) {
    let_next_kernel_start();
    if (!Op::runs(p))
      return wait_for_previous_kernel();  // so that who waits for this one waits for those before
    SkinnyProduct product(p);
    if constexpr (takes_of<Format> != Takes::all)
      if (product.job_.tiles == 0) return wait_for_previous_kernel();
    product.fill_ring();
    product.fetch_behind_ring();
    if constexpr (Op::normalises) {
      const RowNorm<Activation> norm(Op::norm(p), product.job_.depth, p.model.rms_epsilon);
      if (!product.wait()) return;
      product.stage_activations(norm);
    } else if (!product.wait()) {
      return;
    }
    product.multiply();
  }

 private:
  DRAFTSCOPE_DEVICE explicit SkinnyProduct(const Params& p)
      : p_(p),
        job_(Op::job(p)),
        weights_(Op::weights(p)),
        g_(thread_index() % warp_threads / 4),
        t_(thread_index() % 4),
        ring_(shared_memory() + product_partial_bytes(room()) + thread_index() * chunk_bytes) {
    if constexpr (Format::is_grouped)
      scales_ring_ = shared_memory() + product_partial_bytes(room()) + p_.product.stages * ring_stage_bytes +
                     (thread_index() / warp_threads * warp_threads + g_) * scale_bytes;
    const int slice = thread_index() / warp_threads;
    const int granules = (job_.depth + slice_granule - 1) / slice_granule;
    const int slice_depth = (granules + product_slices - 1) / product_slices * slice_granule;
    first_depth_ = slice * slice_depth;
    end_depth_ = first_depth_ + slice_depth;
    end_depth_ = end_depth_ < job_.depth ? end_depth_ : job_.depth;
    // Runs and scales begin at multiples of theirs, before the slice's first values if need be.
    first_stage_ = Format::is_grouped ? first_depth_ / stage_depth * stage_depth : first_depth_;
    // A full ring lies within a tile, also where the depth is small.
    tile_stages_ = (first_depth_ - first_stage_ + slice_depth + stage_depth - 1) / stage_depth;
    tile_stages_ = tile_stages_ < max_ring_stages ? max_ring_stages : tile_stages_;
  }

  /// Waits for the kernels before; false if there is nothing to do. Rows are counted behind the wait: the
  /// kernel that sets them may be any number of launches ahead.
  DRAFTSCOPE_DEVICE bool wait() {
    wait_for_previous_kernel();
    if (p_.work.state->stopped != 0) {
      wait_for_copies<0>();  // none arrives in memory given away
      return false;
    }
    const int rows = p_.work.state->rows - p_.row_begin;
    rows_ = rows < 0 ? 0 : rows > p_.product.rows ? p_.product.rows : rows;
    if (rows_ == 0) wait_for_copies<0>();
    return rows_ > 0;
  }
  /// Whether eight columns have a row: the first eight do.
  DRAFTSCOPE_DEVICE bool is_used(int column_tile) const {
    return column_tile == 0 || column_tile * 8 < rows_;
  }
  /// Columns that a block's sums have room for, a power of two.
  DRAFTSCOPE_DEVICE int room() const {
    if constexpr (columns == widest_columns) return p_.product.columns;
    return columns;
  }
  /// Where the sum of output `r` of a tile and a column lies among a slice's. The widest kernels change the
  /// order of a row's columns from row to row, so that a warp reads from all banks at once.
  DRAFTSCOPE_DEVICE int place_of(int r, int column) const {
    if constexpr (columns < widest_columns) return r * columns + column;
    const int turn = r % 8 * 4 + r / 8 % 2 * 2;
    return r * room() + (column ^ (turn & (room() - 1)));
  }

  DRAFTSCOPE_DEVICE void fill_ring() {
    aim(block_index());
#pragma unroll
    for (int stage = 0; stage < max_ring_stages; ++stage)
      if (stage < p_.product.stages) begin_stage(stage * ring_stage_bytes);
  }

  /// Has what follows the ring's part of the first tile brought into the second cache: a lane takes a row of
  /// weights, of narrow tiles half a row. While one kernel follows the other the device's memory would be
  /// idle, and the ring is too small to fill that time.
  DRAFTSCOPE_DEVICE void fetch_behind_ring() const {
    if (block_index() >= job_.tiles) return;
    constexpr int rows = 2 * half_outputs;
    constexpr int values = fetched_bytes / run_bytes * Format::stage_depth;
    constexpr int sector_values = Format::stage_depth / 2;
    const int lane = thread_index() % warp_threads;
    const int row = lane % rows;
    const int first = first_stage_ + p_.product.stages * stage_depth + lane / rows * values;
    const std::byte* source =
        codes_of(Op::weight_row(p_, weights_, row / half_outputs, block_index(), row % half_outputs));
#pragma unroll
    for (int behind = 0; behind < values; behind += sector_values)
      if (first + behind < end_depth_) begin_fetch(source + bytes_to(first + behind));
  }

  /// Where a row's codes begin.
  DRAFTSCOPE_DEVICE const std::byte* codes_of(const WeightRow& of) const {
    return of.matrix + of.row * Format::row_bytes(job_.depth);
  }
  /// Bytes of a row before its value `k`, a multiple of half a run.
  DRAFTSCOPE_DEVICE static std::int64_t bytes_to(int k) {
    return std::int64_t{k} * run_bytes / Format::stage_depth;
  }

  /// Row `row` of those that this lane, or its neighbours with the same g, take of a tile.
  DRAFTSCOPE_DEVICE WeightRow source_row(int tile, int row) const {
    return Op::weight_row(p_, weights_, row / products, tile, g_ + row % products * 8);
  }

  /// Points the copies to come at the tile's rows of weights.
  DRAFTSCOPE_DEVICE void aim(int tile) {
    copied_tile_ = tile;
    copied_stages_ = 0;
    if (tile >= job_.tiles) return;
#pragma unroll
    for (int row = 0; row < source_rows; ++row) sources_[row] = codes_of(source_row(tile, row));
    if constexpr (Format::is_grouped) {
      const WeightRow own = source_row(tile, t_ % source_rows);
      scales_source_ = own.matrix + Format::layout().scales_offset(own.outputs, job_.depth, own.row);
    }
  }

  /// Where a part of this lane's chunks of a stage that begins at `first` lies in depth.
  DRAFTSCOPE_DEVICE int lane_depth(int first, int depth, int part) const {
    return first + depth * Format::stage_depth + Format::lane_depth(t_, part);
  }

  /// Whether other scales begin with the stage at depth `first`, a tile's first or not.
  DRAFTSCOPE_DEVICE static bool begins_scales(int first, bool is_tiles_first) {
    return is_tiles_first || first % Format::scale_depth == 0;
  }
  /// The next of as many places as there are stages: scales that are needed at a time serve a stage each, or
  /// several.
  DRAFTSCOPE_DEVICE int next_scales(int place) const {
    const int next = place + ring_scale_bytes;
    return next == p_.product.stages * ring_scale_bytes ? 0 : next;
  }
  DRAFTSCOPE_DEVICE void begin_scales(int first) {
    if (!begins_scales(first, copied_stages_ == 0)) return;
    copied_scales_ = next_scales(copied_scales_);
    if (t_ < source_rows && first < end_depth_)
      begin_copy(scales_ring_ + copied_scales_ + t_ * scale_rows * scale_bytes,
                 scales_source_ + first / Format::scale_depth * GroupedLayout::scale_step, true);
  }

  /// This lane's chunk of a run that begins at `first`.
  struct Piece {
    std::int64_t offset;  ///< in a row
    bool inside;          ///< whether the slice has values of it
  };
  DRAFTSCOPE_DEVICE Piece piece_at(int first) const {
    if constexpr (Format::is_grouped) {
      const bool inside = first < end_depth_ && first + Format::stage_depth > first_depth_;
      return {inside ? bytes_to(first) + t_ * chunk_bytes : 0, inside};
    } else {
      const int k = first + Format::lane_depth(t_, 0);
      const bool inside = k < end_depth_;
      return {inside ? std::int64_t{k} * Format::value_bytes : 0, inside};
    }
  }

  /// Starts the copies of the next stage, if there is a tile left. A stage takes max_ring_stages / stages
  /// groups, of which the first has the copies: so the last max_ring_stages groups are the ring's, however
  /// many stages it has.
  DRAFTSCOPE_DEVICE void begin_stage(int place) {
    if (copied_tile_ < job_.tiles) {
      const int first = first_stage_ + copied_stages_ * stage_depth;
#pragma unroll
      for (int depth = 0; depth < depths; ++depth) {
        const Piece piece = piece_at(first + depth * Format::stage_depth);
#pragma unroll
        for (int row = 0; row < source_rows; ++row)
          begin_copy(ring_ + place + (depth * source_rows + row) * stage_row_bytes,
                     sources_[row] + piece.offset, piece.inside);
      }
      if constexpr (Format::is_grouped) begin_scales(first);
    }
    for (int group = 0; group < max_ring_stages; group += p_.product.stages) end_copy_group();
    ++copied_stages_;
  }

  DRAFTSCOPE_DEVICE void multiply() {
    int buffer = 0;
    int place = 0;
    for (int tile = block_index(); tile < job_.tiles; tile += block_count()) {
      float sums[products][column_tiles][4] = {};
      for (int stage = 0; stage < tile_stages_; ++stage) {
        take_stage(first_stage_ + stage * stage_depth, stage == 0, place, sums);
        place += ring_stage_bytes;
        if (place == p_.product.stages * ring_stage_bytes) place = 0;
      }
      store_partial(buffer, sums);
      synchronise();
      finish(buffer, tile);
      join_lanes();  // those that it parts would ask for a sector of the next tile's weights twice
      buffer ^= 1;   // written again only behind the next tile's barrier
    }
  }

  DRAFTSCOPE_DEVICE void stage_activations(const RowNorm<Activation>& norm) {
    const std::int64_t depth = job_.depth;
    // The partial sums' memory, which nothing needs yet.
    norm.bring(
        rows_, partial(0, 0), [&](int row) { return p_.work.residual + (p_.row_begin + row) * depth; },
        [&](int row) {
          return reinterpret_cast<std::uint32_t*>(staged() + row * staged_row_bytes(job_.depth));
        });
    synchronise();
  }

  DRAFTSCOPE_DEVICE std::byte* staged() const {
    return shared_memory() + product_partial_bytes(room()) +
           p_.product.stages * (ring_stage_bytes + (Format::is_grouped ? ring_scale_bytes : 0));
  }

  DRAFTSCOPE_DEVICE Part activations(int column, int k) const {
    Part part{};
    if (column >= rows_ || k >= end_depth_ || (Format::is_grouped && k < first_depth_)) return part;
    const std::byte* row;
    if constexpr (Op::normalises)
      row = staged() + column * staged_row_bytes(job_.depth);
    else
      row = reinterpret_cast<const std::byte*>(Op::activations(p_) +
                                               std::int64_t{p_.row_begin + column} * job_.depth);
    const Chunk chunk = *reinterpret_cast<const Chunk*>(row + k * 2);
    for (int i = 0; i < 4; ++i) part.pairs[i] = chunk.words[i];
    return part;
  }

  /// The scales of the oldest stage's chunks: [depth][row].
  DRAFTSCOPE_DEVICE void take_scales(int first, bool is_tiles_first, Scales (&scales)[stage_chunks]) {
    if (begins_scales(first, is_tiles_first)) taken_scales_ = next_scales(taken_scales_);
    synchronise_lanes();
#pragma unroll
    for (int depth = 0; depth < depths; ++depth)
#pragma unroll
      for (int row = 0; row < source_rows; ++row)
        scales[depth * source_rows + row] =
            Format::scales(scales_ring_ + taken_scales_ + row * scale_rows * scale_bytes,
                           first % Format::scale_depth + depth * Format::stage_depth);
    synchronise_lanes();
  }

  /// Multiplies the ring's oldest stage, which begins at depth `first`, and sends for another in its place.
  DRAFTSCOPE_DEVICE void take_stage(int first, bool is_tiles_first, int place,
                                    float (&sums)[products][column_tiles][4]) {
    // Those of formats with groups, and of many rows, would be too many to hold ahead of the weights.
    constexpr bool are_ahead = !Format::is_grouped && columns < widest_columns;
    Part ahead[depths][Format::parts][are_ahead ? column_tiles : 1];
    if constexpr (are_ahead) {
#pragma unroll
      for (int depth = 0; depth < depths; ++depth)
#pragma unroll
        for (int part = 0; part < Format::parts; ++part)
          bring_activations(lane_depth(first, depth, part), ahead[depth][part]);
    }
    wait_for_copies<max_ring_stages - 1>();
    Chunk held[stage_chunks];
#pragma unroll
    for (int i = 0; i < stage_chunks; ++i)
      held[i] = *reinterpret_cast<const Chunk*>(ring_ + place + i * stage_row_bytes);
    Scales scales[stage_chunks];
    if constexpr (Format::is_grouped) take_scales(first, is_tiles_first, scales);
    if (copied_stages_ == tile_stages_) aim(copied_tile_ + block_count());
    begin_stage(place);
    if (first >= end_depth_) return;  // the same for the whole warp
#pragma unroll
    for (int depth = 0; depth < depths; ++depth)
#pragma unroll
      for (int part = 0; part < Format::parts; ++part) {
        const auto weights_of = [&](int row) {
          return Format::part(held[depth * source_rows + row], part, scales[depth * source_rows + row]);
        };
        const int k = lane_depth(first, depth, part);
        if constexpr (are_ahead) {
          multiply_part(weights_of, ahead[depth][part], sums);
        } else if constexpr (columns < widest_columns) {
          multiply_part_at<column_tiles>(weights_of, k, sums);
        } else {
          // As many as there are rows for, the same for all threads.
          if (rows_ <= 16)
            multiply_part_at<2>(weights_of, k, sums);
          else if (rows_ <= 32)
            multiply_part_at<4>(weights_of, k, sums);
          else
            multiply_part_at<column_tiles>(weights_of, k, sums);
        }
      }
  }

  /// This lane's activations at depth `k`, of as many columns.
  template <int tiles>
  DRAFTSCOPE_DEVICE void bring_activations(int k, Part (&x)[tiles]) const {
#pragma unroll
    for (int column_tile = 0; column_tile < tiles; ++column_tile)
      x[column_tile] = activations(column_tile * 8 + g_, k);
  }

  template <int tiles, typename WeightsOf>
  DRAFTSCOPE_DEVICE void multiply_part_at(const WeightsOf& weights_of, int k,
                                          float (&sums)[products][column_tiles][4]) const {
    Part x[tiles];
    bring_activations(k, x);
    multiply_part(weights_of, x, sums);
  }

  /// Multiplies a part of a stage's rows of weights with the first columns.
  template <int tiles, typename WeightsOf>
  DRAFTSCOPE_DEVICE void multiply_part(const WeightsOf& weights_of, const Part (&x)[tiles],
                                       float (&sums)[products][column_tiles][4]) const {
#pragma unroll
    for (int product = 0; product < products; ++product) {
      const Part low = weights_of(2 * product);
      const Part high = weights_of(2 * product + 1);
#pragma unroll
      for (int column_tile = 0; column_tile < tiles; ++column_tile)
#pragma unroll
        for (int i = 0; i < 4; i += 2)
          Activation::multiply_accumulate(sums[product][column_tile], low.pairs[i], high.pairs[i],
                                          low.pairs[i + 1], high.pairs[i + 1], x[column_tile].pairs[i],
                                          x[column_tile].pairs[i + 1]);
    }
  }

  DRAFTSCOPE_DEVICE float* partial(int buffer, int warp) const {
    return reinterpret_cast<float*>(shared_memory()) +
           (buffer * product_slices + warp) * 2 * half_outputs * room();
  }

  DRAFTSCOPE_DEVICE void store_partial(int buffer, const float (&sums)[products][column_tiles][4]) const {
    float* out = partial(buffer, thread_index() / warp_threads);
#pragma unroll
    for (int product = 0; product < products; ++product)
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile) {
        if (!is_used(column_tile)) continue;
#pragma unroll
        for (int i = 0; i < 4; ++i)
          out[place_of(product * 16 + g_ + i / 2 * 8, column_tile * 8 + t_ * 2 + i % 2)] =
              sums[product][column_tile][i];
      }
  }

  DRAFTSCOPE_DEVICE void finish(int buffer, int tile) const {
    constexpr int at_once = product_threads / half_outputs;  // columns
    for (int first = 0; first < rows_; first += at_once) finish_columns(buffer, tile, first);
  }
  /// As many columns as the block has threads for. Lanes of a warp stay together.
  DRAFTSCOPE_DEVICE void finish_columns(int buffer, int tile, int first) const {
    const int r = thread_index() % half_outputs;
    const int column = first + thread_index() / half_outputs;
    if (!is_used(column / 8) || column >= columns) return;
    float halves[2];
    for (int half = 0; half < 2; ++half) {
      float sum = 0.0F;
      for (int slice = 0; slice < product_slices; ++slice)
        sum += partial(buffer, slice)[place_of(half * half_outputs + r, column)];
      halves[half] = sum;
    }
    Op::finish(p_, job_, tile, r, p_.row_begin + column, column < rows_, halves[0], halves[1]);
  }

  static_assert(chunk_bytes == sizeof(Chunk));
  /// From one of a stage's chunks to the next.
  static constexpr int stage_row_bytes = product_threads * chunk_bytes;

  const Params& p_;
  ProductJob job_;
  typename Op::Weights weights_;
  int g_;                             ///< which of eight rows of weights, and of activations, this lane reads
  int t_;                             ///< which of the four lanes that share them
  std::byte* ring_;                   ///< this lane's first chunk
  std::byte* scales_ring_ = nullptr;  ///< of formats with groups: the first scales of row g
  int first_depth_ = 0;
  int end_depth_ = 0;
  int first_stage_ = 0;  ///< where the first stage begins
  int tile_stages_ = 0;
  int rows_ = 0;                                ///< of this launch, up to p.product.rows
  int copied_tile_ = 0;                         ///< that the next copies are of
  int copied_stages_ = 0;                       ///< of it, so far
  const std::byte* sources_[source_rows] = {};  ///< upper half's rows g (and g + 8), then the lower half's
  // Of formats with groups.
  const std::byte* scales_source_ = nullptr;  ///< of source row t
  int copied_scales_ = -ring_scale_bytes;     ///< places of the youngest scales
  int taken_scales_ = -ring_scale_bytes;      ///< and of the oldest stage's
};

}  // namespace draftscope::engine::cuda
