// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weight-streaming product, for any instruction set that has a Dot type, which multiplies a step of
// weights along k with a step of activations.
//
//   Math     out[row][o] (+)= Σ_k w[o][k] · x[row][k] + bias[o]
//   Order    every element has one vector accumulator over all of k and one fixed tree at its end; blocks of
//            outputs and rows only decide which accumulators are live at the same time
//   Memory   weights are read from memory once for up to 64 rows. One or two rows of a shallow matrix read it
//            in address order, where the processor's own prefetches are fast enough. In other matrices, and
//            on other processors, one or two rows share their activations among eight weight rows side by
//            side, and the next block is prefetched in address order. More rows: their activations would be
//            evicted from the first-level cache before they are used again. So k is divided into chunks, and
//            a group of blocks shares a chunk's activations. Between chunks, sums are stored in memory as
//            vectors, so that the division changes no bit.

#include <immintrin.h>
#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.h"
#include "cpu/processor.h"

namespace draftscope::engine::cpu {

/// Multiplies fp32 activations with weights widened to fp32.
template <typename Vector, DType dtype>
struct WideningDot {
  using Sums = Vector;
  using Weight = typename Vector::Value;
  using Activation = typename Vector::Value;
  static constexpr int step = Vector::width;  ///< values of k per step
  static constexpr std::int64_t weight_bytes = static_cast<std::int64_t>(dtype_bytes(dtype));
  static constexpr std::int64_t activation_bytes = sizeof(float);
  static constexpr int max_accumulators = Vector::width == 16 ? 24 : 12;
  static constexpr int outputs_of_many_rows = Vector::width == 16 ? 8 : 2;

  static bool wants_prefetches() { return streams_want_prefetches(); }
  static Weight weight(const std::byte* p) { return Vector::template load_as<dtype>(p); }
  static Weight weight_first(const std::byte* p, std::int64_t n) {
    return Vector::template load_first_as<dtype>(p, n);
  }
  static Activation activation(const std::byte* p) { return Vector::load(reinterpret_cast<const float*>(p)); }
  static Weight multiply_add(Weight sum, Weight w, Activation x) { return Vector::fma(w, x, sum); }
};

/// Bytes from one row of activations to the next: whole steps, padded with zeros. It is never a multiple of 4
/// KiB, which would map the same k of all rows to one set of the first-level cache.
template <typename Dot>
[[nodiscard]] std::int64_t activation_row_bytes(std::int64_t depth) {
  constexpr std::int64_t page = 4096;
  constexpr std::int64_t skew = 1024;
  const std::int64_t bytes = (depth + Dot::step - 1) / Dot::step * Dot::step * Dot::activation_bytes;
  return bytes % page == 0 ? bytes + skew : bytes;
}

template <typename Dot>
std::size_t set_bytes_of(std::int32_t rows, std::int64_t depth) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(activation_row_bytes<Dot>(depth));
}

/// Steps of k after which sums of many rows are stored in memory and the next outputs are computed. The rows'
/// activations of this many steps stay in the first-level cache.
inline constexpr std::int64_t chunk_steps = 32;
/// Number of blocks of outputs that share a chunk of activations, and of tiles of rows that share a chunk of
/// weights.
inline constexpr int group_blocks = 8;
inline constexpr std::int32_t group_tiles = 8;
/// Max bytes of a group, so that it and the next one, which is being fetched, fit into the second-level
/// cache.
inline constexpr std::int64_t group_bytes = 256 * 1024;

/// Places of the lines that will be needed next: line (step, output) of a piece of the same size.
struct Prefetch {
  const std::byte* first = nullptr;
  std::int64_t step_bytes = 0;
  std::int64_t output_bytes = 0;
};

/// A piece of the work: `outputs` weight rows times `rows` rows of activations over some steps of k.
struct Piece {
  const std::byte* weights = nullptr;
  const std::byte* activations = nullptr;
  std::int64_t weight_row = 0;      ///< stride in bytes
  std::int64_t activation_row = 0;  ///< stride in bytes
  std::int64_t steps = 0;
  std::int64_t rest = 0;  ///< values of k after the whole steps
  Prefetch prefetch;
};

/// Multiplies a piece and prefetches `prefetched` lines in each step. Always inlined: in a call its sums
/// would live in memory, which takes twice as long.
template <typename Dot, int outputs, int rows, int prefetched>
[[gnu::always_inline]] inline void add_piece(const Piece& piece,
                                             typename Dot::Sums::Value (&sums)[outputs * rows]) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  constexpr std::int64_t activation_step = Dot::step * Dot::activation_bytes;
  for (std::int64_t s = 0; s < piece.steps; ++s) {
    typename Dot::Weight w[outputs];
    for (int o = 0; o < outputs; ++o) {
      w[o] = Dot::weight(piece.weights + o * piece.weight_row + s * weight_step);
      asm("" : "+v"(w[o]));  // GCC would read weights again for every row, mostly across two cache lines.
    }
    if constexpr (prefetched > 0)
      for (int o = 0; o < prefetched; ++o)
        _mm_prefetch(reinterpret_cast<const char*>(piece.prefetch.first + s * piece.prefetch.step_bytes +
                                                   o * piece.prefetch.output_bytes),
                     _MM_HINT_T1);
    for (int row = 0; row < rows; ++row) {
      const auto x = Dot::activation(piece.activations + row * piece.activation_row + s * activation_step);
      for (int o = 0; o < outputs; ++o)
        sums[o * rows + row] = Dot::multiply_add(sums[o * rows + row], w[o], x);
    }
  }
  if (piece.rest == 0) return;
  for (int o = 0; o < outputs; ++o) {
    const auto w =
        Dot::weight_first(piece.weights + o * piece.weight_row + piece.steps * weight_step, piece.rest);
    for (int row = 0; row < rows; ++row)
      sums[o * rows + row] = Dot::multiply_add(
          sums[o * rows + row], w,
          Dot::activation(piece.activations + row * piece.activation_row + piece.steps * activation_step));
  }
}

/// Number of weight rows that are multiplied together for a number of activation rows. For one or two rows,
/// as many sums as registers have room for. For more rows, as few weight rows as keep the multipliers busy,
/// since memory serves few streams faster.
template <typename Dot>
constexpr int outputs_at_once(int rows) {
  const int fit = Dot::max_accumulators / rows;
  const int most = rows > 2 ? Dot::outputs_of_many_rows : 8;
  return fit > most ? most : (fit < 1 ? 1 : fit);
}

/// Copies sums element by element: a wider copy would be read again in pieces other than it was written in,
/// and that read waits for the cache.
template <int outputs, int rows, bool biased, bool accumulating>
void finish_as(const ProductTask& task, std::int64_t first_output, std::int32_t first_row,
               const float* __restrict sums) {
  const float* __restrict bias = task.bias + (biased ? first_output : 0);
  float* __restrict out = task.out + first_row * task.out_stride + first_output;
  const std::int64_t out_stride = task.out_stride;
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < outputs; ++o) {
      float dot = sums[o * rows + row];
      if constexpr (biased) dot += bias[o];
      if constexpr (accumulating) dot = out[row * out_stride + o] + dot;
      out[row * out_stride + o] = dot;
    }
}

template <int outputs, int rows>
void finish(const ProductTask& task, std::int64_t first_output, std::int32_t first_row, const float* sums) {
  if (task.bias != nullptr && task.accumulate)
    finish_as<outputs, rows, true, true>(task, first_output, first_row, sums);
  else if (task.bias != nullptr)
    finish_as<outputs, rows, true, false>(task, first_output, first_row, sums);
  else if (task.accumulate)
    finish_as<outputs, rows, false, true>(task, first_output, first_row, sums);
  else
    finish_as<outputs, rows, false, false>(task, first_output, first_row, sums);
}

/// Max bytes of the activations that are read again for every single weight row: a third of the smallest
/// first-level cache, so that the stream of weights does not evict them.
inline constexpr std::int64_t repeated_bytes = 10 * 1024;
/// Min bytes of weights per step for which one sum at a time is as fast as memory: a multiply-add waits four
/// to six cycles for the one before it, and memory gives a core at most eight bytes a cycle.
inline constexpr std::int64_t lone_step_bytes = 32;

/// Computes a few rows with one weight row after another, so that weights are read in address order.
template <typename Dot, int outputs, int rows>
void multiply_in_order(const ProductTask& task, std::int64_t output, std::int32_t first_row) {
  const std::int64_t weight_row = task.depth * Dot::weight_bytes;
  const std::int64_t activation_row = activation_row_bytes<Dot>(task.depth);
  const std::byte* weights = task.weights + output * weight_row;
  const std::byte* activations = task.activations + first_row * activation_row;
  typename Dot::Sums::Value sums[outputs * rows];
#pragma GCC unroll 8
  for (int o = 0; o < outputs; ++o) {
    typename Dot::Sums::Value own[rows];
    for (auto& sum : own) sum = Dot::Sums::zero();
    add_piece<Dot, 1, rows, 0>({weights + o * weight_row,
                                activations,
                                weight_row,
                                activation_row,
                                task.depth / Dot::step,
                                task.depth % Dot::step,
                                {}},
                               own);
    for (int row = 0; row < rows; ++row) sums[o * rows + row] = own[row];
  }
  alignas(64) float dots[Dot::Sums::template room_for_sums<outputs * rows>];
  Dot::Sums::sums(sums, dots);
  finish<outputs, rows>(task, output, first_row, dots);
}

/// Computes a few rows with weight rows side by side, which share each activation, and prefetches the next
/// ones.
template <typename Dot, int outputs, int rows>
void multiply_side_by_side(const ProductTask& task, std::int64_t output, std::int32_t first_row) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  const std::int64_t weight_row = task.depth * Dot::weight_bytes;
  const std::int64_t activation_row = activation_row_bytes<Dot>(task.depth);
  const std::byte* weights = task.weights + output * weight_row;
  typename Dot::Sums::Value sums[outputs * rows];
  for (auto& sum : sums) sum = Dot::Sums::zero();
  add_piece<Dot, outputs, rows, outputs>(
      {weights,
       task.activations + first_row * activation_row,
       weight_row,
       activation_row,
       task.depth / Dot::step,
       task.depth % Dot::step,
       {weights + outputs * weight_row, outputs * weight_step, weight_step}},
      sums);
  alignas(64) float dots[Dot::Sums::template room_for_sums<outputs * rows>];
  Dot::Sums::sums(sums, dots);
  finish<outputs, rows>(task, output, first_row, dots);
}

/// Computes outputs [begin, end) for one or two rows.
template <typename Dot, int rows>
void multiply_few_rows(const ProductTask& task, std::int64_t begin, std::int64_t end,
                       std::int32_t first_row) {
  constexpr int at_once = outputs_at_once<Dot>(rows);
  const std::int64_t even_end = end - (end - begin) % at_once;
  const bool in_order = !Dot::wants_prefetches() && Dot::step * Dot::weight_bytes >= lone_step_bytes &&
                        rows * activation_row_bytes<Dot>(task.depth) <= repeated_bytes;
  for (std::int64_t output = begin; output < even_end; output += at_once)
    if (in_order)
      multiply_in_order<Dot, at_once, rows>(task, output, first_row);
    else
      multiply_side_by_side<Dot, at_once, rows>(task, output, first_row);
  for (std::int64_t output = even_end; output < end; ++output)
    multiply_in_order<Dot, 1, rows>(task, output, first_row);
}

/// Sums that are stored in memory between chunks.
template <typename Dot, int outputs, int rows>
using Resting = typename Dot::Sums::Value[group_tiles][group_blocks][outputs * rows];

/// Computes one chunk of k for one block of outputs and one tile of rows. The last chunk finishes the sums,
/// other chunks leave them in memory. `next` is the place to prefetch from, and `lines` the number of lines
/// per step: all, one or none.
template <typename Dot, int outputs, int rows, int tile_rows>
void multiply_chunk(const ProductTask& task, std::int64_t output, std::int32_t first_row, std::int64_t chunk,
                    const std::byte* next, int lines, typename Dot::Sums::Value (&resting)[outputs * rows]) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  constexpr std::int64_t activation_step = Dot::step * Dot::activation_bytes;
  const std::int64_t weight_row = task.depth * Dot::weight_bytes;
  const std::int64_t activation_row = activation_row_bytes<Dot>(task.depth);
  const std::int64_t all_steps = task.depth / Dot::step;
  const std::int64_t first_step = chunk * chunk_steps;
  const bool last = first_step + chunk_steps >= all_steps;
  const std::byte* weights = task.weights + output * weight_row + first_step * weight_step;
  const Piece piece{weights,
                    task.activations + first_row * activation_row + first_step * activation_step,
                    weight_row,
                    activation_row,
                    last ? all_steps - first_step : chunk_steps,
                    last ? task.depth % Dot::step : 0,
                    {next, outputs * weight_step, weight_step}};
  typename Dot::Sums::Value sums[outputs * tile_rows];
  for (int i = 0; i < outputs * tile_rows; ++i) sums[i] = chunk == 0 ? Dot::Sums::zero() : resting[i];
  if (lines == 0) {
    add_piece<Dot, outputs, tile_rows, 0>(piece, sums);
  } else if constexpr (outputs == 1) {
    add_piece<Dot, outputs, tile_rows, 1>(piece, sums);
  } else {
    if (lines < outputs)
      add_piece<Dot, outputs, tile_rows, 1>(piece, sums);
    else
      add_piece<Dot, outputs, tile_rows, outputs>(piece, sums);
  }
  if (!last) {
    for (int i = 0; i < outputs * tile_rows; ++i) resting[i] = sums[i];
    return;
  }
  alignas(64) float dots[Dot::Sums::template room_for_sums<outputs * tile_rows>];
  Dot::Sums::sums(sums, dots);
  finish<outputs, tile_rows>(task, output, first_row, dots);
}

/// Computes outputs [begin, end) for tiles of rows from first_row on. The first `large` tiles have `rows`
/// rows, the others one fewer.
template <typename Dot, int outputs, int rows>
void multiply_tiles(const ProductTask& task, std::int64_t begin, std::int64_t end, std::int32_t first_row,
                    std::int32_t tiles, std::int32_t large) {
  constexpr int fewer = rows > 1 ? rows - 1 : 1;
  const std::int64_t chunks =
      task.depth / Dot::step <= chunk_steps ? 1 : (task.depth / Dot::step + chunk_steps - 1) / chunk_steps;
  Resting<Dot, outputs, rows> resting;
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  const std::int64_t block_bytes = outputs * task.depth * Dot::weight_bytes;
  const std::int64_t fit = group_bytes / block_bytes;
  const std::int64_t at_once = fit < 2 ? 2 : (fit < group_blocks ? fit : group_blocks);
  for (std::int64_t group = begin; group < end; group += at_once * outputs) {
    const std::int64_t left = (end - group) / outputs;
    const int blocks = static_cast<int>(left < at_once ? left : at_once);
    // Prefetch the next group's lines in address order, spread evenly over this group's pieces: over those of
    // every tile if there are enough.
    const bool spread = tiles >= outputs;
    const std::byte* ahead = task.weights + group * task.depth * Dot::weight_bytes + blocks * block_bytes;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      const bool last = chunk == chunks - 1;
      const std::int64_t steps = last ? task.depth / Dot::step - chunk * chunk_steps : chunk_steps;
      std::int32_t row = first_row;
      for (std::int32_t tile = 0; tile < tiles; ++tile) {
        const int lines = spread ? (tile < outputs ? 1 : 0) : (tile == 0 ? outputs : 0);
        const std::byte* next = ahead + (spread ? tile * weight_step : 0);
        for (int block = 0; block < blocks; ++block) {
          const std::int64_t output = group + block * outputs;
          if (tile < large)
            multiply_chunk<Dot, outputs, rows, rows>(task, output, row, chunk, next, lines,
                                                     resting[tile][block]);
          else
            multiply_chunk<Dot, outputs, rows, fewer>(task, output, row, chunk, next, lines,
                                                      resting[tile][block]);
          next += steps * outputs * weight_step;
        }
        row += tile < large ? rows : fewer;
      }
      ahead += blocks * steps * outputs * weight_step;
    }
  }
}

template <typename Dot, int rows>
void multiply_rows(const ProductTask& task, std::int64_t begin, std::int64_t end, std::int32_t first_row,
                   std::int32_t tiles, std::int32_t large) {
  if constexpr (rows <= 2) {
    multiply_few_rows<Dot, rows>(task, begin, end, first_row);
  } else {
    constexpr int at_once = outputs_at_once<Dot>(rows);
    const std::int64_t even_end = end - (end - begin) % at_once;
    multiply_tiles<Dot, at_once, rows>(task, begin, even_end, first_row, tiles, large);
    multiply_tiles<Dot, 1, rows>(task, even_end, end, first_row, tiles, large);
  }
}

template <typename Dot>
void multiply_group(const ProductTask& task, std::int64_t begin, std::int64_t end, std::int32_t first_row,
                    std::int32_t n) {
  constexpr std::int32_t max_rows = Dot::max_accumulators >= 24 ? 8 : 4;
  const std::int32_t tiles = (n + max_rows - 1) / max_rows;
  const std::int32_t rows = (n + tiles - 1) / tiles;
  const std::int32_t large = n - tiles * (rows - 1);
  switch (rows) {
    case 1:
      return multiply_rows<Dot, 1>(task, begin, end, first_row, tiles, large);
    case 2:
      return multiply_rows<Dot, 2>(task, begin, end, first_row, tiles, large);
    case 3:
      return multiply_rows<Dot, 3>(task, begin, end, first_row, tiles, large);
    case 4:
      return multiply_rows<Dot, 4>(task, begin, end, first_row, tiles, large);
    default:
      break;
  }
  if constexpr (max_rows > 4) {
    switch (rows) {
      case 5:
        return multiply_rows<Dot, 5>(task, begin, end, first_row, tiles, large);
      case 6:
        return multiply_rows<Dot, 6>(task, begin, end, first_row, tiles, large);
      case 7:
        return multiply_rows<Dot, 7>(task, begin, end, first_row, tiles, large);
      default:
        return multiply_rows<Dot, 8>(task, begin, end, first_row, tiles, large);
    }
  }
}

template <typename Dot>
void vector_product(const ProductTask& task, std::int64_t begin, std::int64_t end) {
  constexpr std::int32_t max_rows = group_tiles * (Dot::max_accumulators >= 24 ? 8 : 4);
  for (std::int32_t row = 0; row < task.rows; row += max_rows)
    multiply_group<Dot>(task, begin, end, row, task.rows - row < max_rows ? task.rows - row : max_rows);
}

}  // namespace draftscope::engine::cpu
