// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The product that decides decode speed: a weight matrix times up to 16 rows of activations. Weights stream
// from memory once, straight into registers, 16 bytes a load and several loads in flight; tensor cores
// multiply them with the rows as the short side, so that eight rows cost what one costs.
//
// Blocks are persistent and walk over tiles of 32 outputs, in two halves of 16. Each of a block's eight warps
// takes a slice of the depth; slices are added in a fixed order, and a column of an mma depends on its own
// row of activations alone. So a row's bits depend neither on the other rows nor on how many blocks there
// are. A block takes half of a multiprocessor's registers at most, so that the next kernel's can start beside
// it and load its first weights.
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
//   | job(p)                                              | tiles and depth                                             |
//   | weight_row(p, job, half, tile, r)                   | address of weight row r (0 … 15) of a half of a tile;       |
//   |                                                     | always readable                                             |
//   | activations(p)                                      | 16-bit rows [.][depth] in global memory (ops that do not    |
//   |                                                     | normalise)                                                  |
//   | norm(p)                                             | the norm's weights, or null to only round (ops that         |
//   |                                                     | normalise)                                                  |
//   | finish(p, job, tile, r, row, present, upper, lower) | takes output r of both halves for one row; all lanes of a   |
//   |                                                     | warp call it together, 16 lanes a row                       |
// clang-format on
//
// runs(), job() and weight_row() are called before the wait for the kernels before, and so read nothing that
// any of those writes (wait_for_previous_kernel()).

#include "pass_state.h"
#include "weights.h"

namespace draftscope::engine::cuda {

struct ProductJob {
  std::int32_t tiles;
  std::int32_t depth;
};

/// Σ x² over a row by one warp, in one order.
DRAFTSCOPE_DEVICE float row_square_sum(const float* row, int depth) {
  const int lane = thread_index() % warp_threads;
  float sum = 0.0F;
  for (int i = lane * 4; i < depth; i += warp_threads * 4)
    for (int j = 0; j < 4; ++j) sum += row[i + j] * row[i + j];
  for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  return sum;
}

template <typename Element>
DRAFTSCOPE_DEVICE std::uint32_t pack(float low, float high) {
  return static_cast<std::uint32_t>(Element::from_float(low)) |
         static_cast<std::uint32_t>(Element::from_float(high)) << 16;
}

/// One warp brings one row of the residual stream into 16-bit values: normalised, unless `norm` is null.
template <typename Element>
DRAFTSCOPE_DEVICE void normalise_row(const float* row, const float* norm, int depth, float epsilon,
                                     std::uint32_t* out) {
  const int lane = thread_index() % warp_threads;
  if (norm == nullptr) {
    for (int i = lane * 4; i < depth; i += warp_threads * 4)
      for (int j = 0; j < 4; j += 2) out[(i + j) / 2] = pack<Element>(row[i + j], row[i + j + 1]);
    return;
  }
  const float scale = 1.0F / sqrtf(row_square_sum(row, depth) / static_cast<float>(depth) + epsilon);
  for (int i = lane * 4; i < depth; i += warp_threads * 4)
    for (int j = 0; j < 4; j += 2)
      out[(i + j) / 2] =
          pack<Element>(row[i + j] * scale * norm[i + j], row[i + j + 1] * scale * norm[i + j + 1]);
}

template <typename Format, int columns, typename Op>
class SkinnyProduct {
  using Activation = typename Format::Activation;
  using Params = typename Op::Params;
  static constexpr int column_tiles = columns / 8;
  static_assert(columns == 8 || columns == 16);

 public:
  DRAFTSCOPE_DEVICE static void run(const Params& p) {
    let_next_kernel_start();
    if (!Op::runs(p))
      return wait_for_previous_kernel();  // so that who waits for this one waits for those before
    SkinnyProduct product(p);
    product.start_loads();
    wait_for_previous_kernel();
    if (p.work.state->stopped != 0) return;
    product.count_rows();
    product.multiply();
  }

 private:
  DRAFTSCOPE_DEVICE explicit SkinnyProduct(const Params& p)
      : p_(p), job_(Op::job(p)), lane_(thread_index() % warp_threads), g_(lane_ / 4), t_(lane_ % 4) {
    const int slice = thread_index() / warp_threads;
    const int steps = (job_.depth + step_depth - 1) / step_depth;
    const int slice_steps = (steps + product_slices - 1) / product_slices;
    first_depth_ = slice * slice_steps * step_depth;
    end_depth_ = first_depth_ + slice_steps * step_depth;
    end_depth_ = end_depth_ < job_.depth ? end_depth_ : job_.depth;
    rounds_ = (slice_steps + Format::stages - 1) / Format::stages;
  }

  /// Behind the wait: the kernel that sets the rows may be any number of launches ahead.
  DRAFTSCOPE_DEVICE void count_rows() {
    const int rows = p_.work.state->rows - p_.row_begin;
    rows_ = rows < 0 ? 0 : rows > columns ? columns : rows;
  }

  DRAFTSCOPE_DEVICE void start_loads() {
    aim(block_index());
    for (int stage = 0; stage < Format::stages; ++stage) load(stage, stage);
  }

  /// Points the loads to come at the tile's rows of weights; without a tile they read nothing.
  DRAFTSCOPE_DEVICE void aim(int tile) {
    has_tile_ = tile < job_.tiles;
    if (!has_tile_) return;
    for (int row = 0; row < 4; ++row)
      sources_[row] = Op::weight_row(p_, job_, row / 2, tile, g_ + row % 2 * 8);
  }

  DRAFTSCOPE_DEVICE void load(int stage, int step) {
    for (int i = 0; i < Format::loads; ++i) {
      const int k = first_depth_ + step * step_depth + Format::load_offset(i, t_);
      const bool inside = has_tile_ && k < end_depth_;
#pragma unroll
      for (int row = 0; row < 4; ++row)
        ring_[stage][row][i] = inside ? load_streaming(reinterpret_cast<const Chunk*>(
                                            sources_[row] + std::int64_t{k} * Format::value_bytes))
                                      : Chunk{};
    }
  }

  DRAFTSCOPE_DEVICE void multiply() {
    if constexpr (Op::normalises) {
      stage_activations();
      synchronise();
    }
    int buffer = 0;
    for (int tile = block_index(); tile < job_.tiles; tile += block_count()) {
      float sums[2][column_tiles][4] = {};
      for (int round = 0; round < rounds_; ++round) {
        // The last round's loads are the next tile's first: the stream never pauses at a tile's end.
        const bool is_last = round + 1 == rounds_;
        if (is_last) aim(tile + block_count());
        const int next_step = is_last ? 0 : (round + 1) * Format::stages;
#pragma unroll
        for (int stage = 0; stage < Format::stages; ++stage) {
          consume(stage, round * Format::stages + stage, sums);
          load(stage, next_step + stage);
        }
      }
      store_partial(buffer, sums);
      synchronise();
      finish(buffer, tile);
      buffer ^= 1;  // written again only behind the next tile's barrier
    }
  }

  DRAFTSCOPE_DEVICE void stage_activations() {
    const int depth = job_.depth;
    for (int row = thread_index() / warp_threads; row < rows_; row += product_slices)
      normalise_row<Activation>(p_.work.residual + std::int64_t{p_.row_begin + row} * depth, Op::norm(p_),
                                depth, p_.model.rms_epsilon,
                                reinterpret_cast<std::uint32_t*>(staged() + row * staged_row_bytes(depth)));
  }

  DRAFTSCOPE_DEVICE std::byte* staged() const {
    return shared_memory() + product_partial_bytes(columns);
  }

  DRAFTSCOPE_DEVICE Part activations(int column, int k) const {
    Part part{};
    if (column >= rows_ || k >= end_depth_) return part;
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

  DRAFTSCOPE_DEVICE void consume(int stage, int step, float (&sums)[2][column_tiles][4]) {
    if (first_depth_ + step * step_depth >= end_depth_) return;  // the same for the whole warp
#pragma unroll
    for (int index = 0; index < parts; ++index) {
      const int k = first_depth_ + step * step_depth + Format::offset(index, t_);
      Part x[column_tiles];
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
        x[column_tile] = activations(column_tile * 8 + g_, k);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Part low = Format::part(ring_[stage][2 * half], index);
        const Part high = Format::part(ring_[stage][2 * half + 1], index);
#pragma unroll
        for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
#pragma unroll
          for (int i = 0; i < 4; i += 2)
            Activation::multiply_accumulate(sums[half][column_tile], low.pairs[i], high.pairs[i],
                                            low.pairs[i + 1], high.pairs[i + 1], x[column_tile].pairs[i],
                                            x[column_tile].pairs[i + 1]);
      }
    }
  }

  DRAFTSCOPE_DEVICE float* partial(int buffer, int warp) const {
    return reinterpret_cast<float*>(shared_memory()) +
           (buffer * product_slices + warp) * tile_outputs * columns;
  }

  DRAFTSCOPE_DEVICE void store_partial(int buffer, const float (&sums)[2][column_tiles][4]) const {
    float* out = partial(buffer, thread_index() / warp_threads);
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int column_tile = 0; column_tile < column_tiles; ++column_tile)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          out[(half * tile_half + g_ + i / 2 * 8) * columns + column_tile * 8 + t_ * 2 + i % 2] =
              sums[half][column_tile][i];
  }

  DRAFTSCOPE_DEVICE void finish(int buffer, int tile) const {
    if (thread_index() >= tile_half * columns) return;
    const int r = thread_index() % tile_half;
    const int column = thread_index() / tile_half;
    float halves[2];
    for (int half = 0; half < 2; ++half) {
      float sum = 0.0F;
      for (int slice = 0; slice < product_slices; ++slice)
        sum += partial(buffer, slice)[(half * tile_half + r) * columns + column];
      halves[half] = sum;
    }
    Op::finish(p_, job_, tile, r, p_.row_begin + column, column < rows_, halves[0], halves[1]);
  }

  const Params& p_;
  ProductJob job_;
  int lane_;
  int g_;  ///< which of eight rows of weights, and of activations, this lane reads
  int t_;  ///< which of the four lanes that share them
  int first_depth_ = 0;
  int end_depth_ = 0;
  int rounds_ = 0;
  int rows_ = 0;  ///< of this launch, 0 … columns
  bool has_tile_ = false;
  const std::byte* sources_[4] = {};  ///< upper half's rows g and g + 8, then the lower half's
  Chunk ring_[Format::stages][4][Format::loads];
};

}  // namespace draftscope::engine::cuda
