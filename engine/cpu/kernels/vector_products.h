// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weight-streaming product, for any instruction set that has a Dot: how a step of weights along k meets a
// step of activations.
//
//   Math     out[row][o] (+)= Σ_k w[o][k] · x[row][k] + bias[o]
//   Order    every element has one vector accumulator over all of a part's k and one fixed tree at its end,
//   and
//            parts are added as neighbours (parts.h); blocks of outputs and rows only decide which
//            accumulators are alive together
//   Memory   weights are read from memory once for up to 64 rows, and what is needed next is prefetched while
//            the present is multiplied. One or two rows: block by block of weight rows, the next block in
//            address order, one sequential stream a thread, which memory serves faster than rows side by
//            side. More rows: their activations would fall out of the first cache before they are used again,
//            so k is cut into chunks (several parts, or a piece of one), a group of blocks shares a chunk's
//            activations, and sums rest in memory between chunks, as vectors, so that the cut changes no bit.
//            The parts of an output are multiplied one after another while its sums are at hand.

#include <immintrin.h>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cpu/kernels/kernels.h"

namespace draftscope::engine::cpu {

/// fp32 activations against weights widened to fp32.
template <typename Vector, DType dtype>
struct WideningDot {
  using Sums = Vector;
  using Weight = typename Vector::Value;
  using Activation = typename Vector::Value;
  static constexpr int step = Vector::width;  ///< values of k
  static constexpr std::int64_t weight_bytes = static_cast<std::int64_t>(dtype_bytes(dtype));
  static constexpr std::int64_t activation_bytes = sizeof(float);
  static constexpr int max_accumulators = Vector::width == 16 ? 24 : 12;
  static constexpr int outputs_of_many_rows = Vector::width == 16 ? 8 : 2;

  static Weight weight(const std::byte* p) { return Vector::template load_as<dtype>(p); }
  static Weight weight_first(const std::byte* p, std::int64_t n) {
    return Vector::template load_first_as<dtype>(p, n);
  }
  static Activation activation(const std::byte* p) { return Vector::load(reinterpret_cast<const float*>(p)); }
  static Weight multiply_add(Weight sum, Weight w, Activation x) { return Vector::fma(w, x, sum); }
};

/// Bytes of a part of a row of activations: whole steps, zeros at the end.
template <typename Dot>
[[nodiscard]] std::int64_t activation_part_bytes(std::int64_t depth) {
  return (depth + Dot::step - 1) / Dot::step * Dot::step * Dot::activation_bytes;
}

/// Bytes from one row of activations to the next: never a multiple of 4 KiB, which would put the same k of
/// all rows into one set of the first cache.
template <typename Dot>
[[nodiscard]] std::int64_t activation_row_bytes(std::int64_t depth, std::int64_t parts) {
  constexpr std::int64_t page = 4096;
  constexpr std::int64_t skew = 1024;
  const std::int64_t bytes = parts * activation_part_bytes<Dot>(depth);
  return bytes % page == 0 ? bytes + skew : bytes;
}

template <typename Dot>
std::size_t set_bytes_of(std::int32_t rows, std::int64_t depth, std::int64_t parts) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(activation_row_bytes<Dot>(depth, parts));
}

/// Steps of k after which sums of many rows rest in memory and the next outputs take their turn: the rows'
/// activations of that many steps stay in the first cache.
inline constexpr std::int64_t chunk_steps = 32;
/// Blocks of outputs that share a chunk of activations, and tiles of rows that share a chunk of weights.
inline constexpr int group_blocks = 8;
inline constexpr std::int32_t group_tiles = 8;
/// A group and the next one, which is on its way, fit into the second cache.
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
  std::int64_t weight_row = 0;      ///< bytes
  std::int64_t activation_row = 0;  ///< bytes
  std::int64_t steps = 0;
  std::int64_t rest = 0;  ///< values of k after the whole steps
  Prefetch prefetch;
};

/// Weights of the values of k after a piece's steps, where there are some. Before its sums are begun: reading
/// them may be a call, for which sums would go to memory, in each step.
template <typename Dot, int outputs>
[[gnu::always_inline]] inline void read_rest(const Piece& piece, typename Dot::Weight (&rest)[outputs]) {
  if (piece.rest == 0) return;
  const std::byte* weights = piece.weights + piece.steps * Dot::step * Dot::weight_bytes;
  for (int o = 0; o < outputs; ++o) rest[o] = Dot::weight_first(weights + o * piece.weight_row, piece.rest);
}

/// `prefetched` lines are asked for in each step. Always inlined: as a call its sums would live in memory,
/// which takes twice as long.
template <typename Dot, int outputs, int rows, int prefetched>
[[gnu::always_inline]] inline void add_piece(const Piece& piece, const typename Dot::Weight (&rest)[outputs],
                                             typename Dot::Sums::Value (&sums)[outputs * rows]) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  constexpr std::int64_t activation_step = Dot::step * Dot::activation_bytes;
  for (std::int64_t s = 0; s < piece.steps; ++s) {
    typename Dot::Weight w[outputs];
    for (int o = 0; o < outputs; ++o) {
      w[o] = Dot::weight(piece.weights + o * piece.weight_row + s * weight_step);
      asm("" : "+v"(w[o]));  // GCC would read weights again for every row, mostly across two cache lines
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
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
    const auto x =
        Dot::activation(piece.activations + row * piece.activation_row + piece.steps * activation_step);
#pragma GCC unroll 8
    for (int o = 0; o < outputs; ++o)
      sums[o * rows + row] = Dot::multiply_add(sums[o * rows + row], rest[o], x);
  }
}

/// Weight rows multiplied together for a number of activation rows: as many sums as registers hold, for more
/// than two rows as few weight rows as keep the multipliers busy, since memory serves few streams faster.
template <typename Dot>
constexpr int outputs_at_once(int rows) {
  const int fit = Dot::max_accumulators / rows;
  const int most = rows > 2 ? Dot::outputs_of_many_rows : 8;
  return fit > most ? most : (fit < 1 ? 1 : fit);
}

/// Element by element: wider copies on the way would be read again in other pieces than they were written in,
/// and wait for the cache.
template <int outputs, int rows, bool accumulating>
void finish_as(const ProductTask& task, std::int64_t first_output, std::int32_t first_row,
               const float* __restrict sums) {
  float* __restrict out = task.out + first_row * task.out_stride + first_output;
  const std::int64_t out_stride = task.out_stride;
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < outputs; ++o) {
      float dot = sums[o * rows + row];
      if constexpr (accumulating) dot = out[row * out_stride + o] + dot;
      out[row * out_stride + o] = dot;
    }
}

template <int outputs, int rows>
void finish(const ProductTask& task, std::int64_t first_output, std::int32_t first_row, const float* sums) {
  if (task.accumulate)
    finish_as<outputs, rows, true>(task, first_output, first_row, sums);
  else
    finish_as<outputs, rows, false>(task, first_output, first_row, sums);
}

/// Places of a task's weights and activations, bytes apart.
struct Strides {
  std::int64_t weight_row, weight_part, activation_row, activation_part;
};

template <typename Dot>
[[nodiscard]] Strides strides_of(const ProductTask& task) {
  const std::int64_t weight_row = task.depth * Dot::weight_bytes;
  return {weight_row, task.outputs * weight_row, activation_row_bytes<Dot>(task.depth, task.parts),
          activation_part_bytes<Dot>(task.depth)};
}

/// Room for the sums of a block of outputs and rows, in whole vectors.
template <typename Dot, int sums>
inline constexpr int room_for = Dot::Sums::template room_for_sums<sums>;

// Sums are begun and copied vector by vector, and never by an address: else they would live in memory, and be
// written there in each step.

template <typename Value, int n>
[[gnu::always_inline]] inline void fill_vectors(Value with, Value (&sums)[n]) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    ((sums[i] = with), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// The first n.
template <int n, typename Value, int from_size, int to_size>
[[gnu::always_inline]] inline void copy_vectors(const Value (&from)[from_size], Value (&to)[to_size]) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    ((to[i] = from[i]), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// The end of a part: its lanes are added, to the first one's sums the bias, then the neighbours'.
template <typename Dot, int outputs, int rows, int room>
[[gnu::always_inline]] inline void end_part(const ProductTask& task, std::int64_t first_output,
                                            std::int64_t part,
                                            const typename Dot::Sums::Value (&sums)[outputs * rows],
                                            float (&dots)[room_for<Dot, outputs * rows>],
                                            WaitingSums<room>& waiting) {
  typename Dot::Sums::Value ended[outputs * rows];
  copy_vectors<outputs * rows>(sums, ended);
  Dot::Sums::sums(ended, dots);
  if (part == 0 && task.bias != nullptr)
    for (int o = 0; o < outputs; ++o)
      for (int row = 0; row < rows; ++row) dots[o * rows + row] += task.bias[first_output + o];
  if (task.parts > 1) add_to_neighbours(part, task.parts, dots, waiting);
}

/// Up to a few rows, whose activations stay in the first cache by themselves: one pass over all of k.
template <typename Dot, int outputs, int rows>
void multiply_whole(const ProductTask& task, std::int64_t output, std::int32_t first_row) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  const Strides strides = strides_of<Dot>(task);
  const std::byte* weights = task.weights + output * strides.weight_row;
  const std::byte* activations = task.activations + first_row * strides.activation_row;
  alignas(64) float dots[room_for<Dot, outputs * rows>];
  alignas(64) WaitingSums<room_for<Dot, outputs * rows>> waiting;
  for (std::int64_t part = 0; part < task.parts; ++part) {
    const Piece piece{weights,
                      activations,
                      strides.weight_row,
                      strides.activation_row,
                      task.depth / Dot::step,
                      task.depth % Dot::step,
                      {weights + outputs * strides.weight_row, outputs * weight_step, weight_step}};
    typename Dot::Weight rest[outputs];
    read_rest<Dot>(piece, rest);
    typename Dot::Sums::Value sums[outputs * rows];
    fill_vectors(Dot::Sums::zero(), sums);
    add_piece<Dot, outputs, rows, outputs>(piece, rest, sums);
    end_part<Dot, outputs, rows>(task, output, part, sums, dots, waiting);
    weights += strides.weight_part;
    activations += strides.activation_part;
  }
  finish<outputs, rows>(task, output, first_row, dots);
}

/// A chunk of k: some whole parts, or some steps of one.
struct Chunk {
  std::int64_t first_part, parts;
  std::int64_t first_step, steps;  ///< of each part
  std::int64_t rest;               ///< values of k after the steps, where a part ends with them
  bool begins_part, ends_part;
};

/// How a task's k is cut: parts that a chunk has, and chunks that a part has, one of which is 1.
struct Cut {
  std::int64_t parts_at_once, chunks_of_part;

  [[nodiscard]] bool is_whole(const ProductTask& task) const {
    return parts_at_once == task.parts && chunks_of_part == 1;
  }
};

template <typename Dot>
[[nodiscard]] Cut cut_of(const ProductTask& task) {
  const std::int64_t steps = task.depth / Dot::step;
  if (steps > chunk_steps) return {1, (steps + chunk_steps - 1) / chunk_steps};
  const std::int64_t fit = chunk_steps / (steps > 1 ? steps : 1);
  return {fit < task.parts ? fit : task.parts, 1};
}

template <typename Dot>
[[nodiscard]] Chunk chunk_of(const ProductTask& task, const Cut& cut, std::int64_t first_part,
                             std::int64_t place) {
  const std::int64_t left = task.parts - first_part;
  const std::int64_t first_step = place * chunk_steps;
  const bool ends = place + 1 == cut.chunks_of_part;
  return {first_part,
          left < cut.parts_at_once ? left : cut.parts_at_once,
          first_step,
          ends ? task.depth / Dot::step - first_step : chunk_steps,
          ends ? task.depth % Dot::step : 0,
          place == 0,
          ends};
}

/// Sums of a block of outputs and a tile of rows that rest in memory between chunks.
template <typename Dot, int sums>
struct Resting {
  typename Dot::Sums::Value of_part[sums];
  alignas(64) WaitingSums<room_for<Dot, sums>> waiting;
};

/// Lines that are prefetched during a chunk: `lines` of each step (all, one or none) from `first` on, of the
/// first part's weights and of further ones' likewise.
struct Ahead {
  const std::byte* first;
  int lines;
};

/// One chunk of k for one block of outputs and one tile of rows: the last chunk finishes the sums, others
/// leave them resting.
template <typename Dot, int outputs, int rows, int tile_rows>
void multiply_chunk(const ProductTask& task, std::int64_t output, std::int32_t first_row, const Chunk& chunk,
                    const Ahead& ahead, Resting<Dot, outputs * rows>& resting) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  constexpr std::int64_t activation_step = Dot::step * Dot::activation_bytes;
  const Strides strides = strides_of<Dot>(task);
  Piece piece{task.weights + chunk.first_part * strides.weight_part + output * strides.weight_row +
                  chunk.first_step * weight_step,
              task.activations + first_row * strides.activation_row +
                  chunk.first_part * strides.activation_part + chunk.first_step * activation_step,
              strides.weight_row,
              strides.activation_row,
              chunk.steps,
              chunk.rest,
              {ahead.first, outputs * weight_step, weight_step}};
  alignas(64) float dots[room_for<Dot, outputs * tile_rows>];
  for (std::int64_t part = chunk.first_part; part < chunk.first_part + chunk.parts; ++part) {
    typename Dot::Weight rest[outputs];
    read_rest<Dot>(piece, rest);
    typename Dot::Sums::Value sums[outputs * tile_rows];
    fill_vectors(Dot::Sums::zero(), sums);
    if (!chunk.begins_part) copy_vectors<outputs * tile_rows>(resting.of_part, sums);
    if (ahead.lines == 0) {
      add_piece<Dot, outputs, tile_rows, 0>(piece, rest, sums);
    } else if constexpr (outputs == 1) {
      add_piece<Dot, outputs, tile_rows, 1>(piece, rest, sums);
    } else {
      if (ahead.lines < outputs)
        add_piece<Dot, outputs, tile_rows, 1>(piece, rest, sums);
      else
        add_piece<Dot, outputs, tile_rows, outputs>(piece, rest, sums);
    }
    if (!chunk.ends_part) {
      copy_vectors<outputs * tile_rows>(sums, resting.of_part);
      return;
    }
    end_part<Dot, outputs, tile_rows>(task, output, part, sums, dots, resting.waiting);
    piece.weights += strides.weight_part;
    piece.activations += strides.activation_part;
    piece.prefetch.first += strides.weight_part;
  }
  if (chunk.first_part + chunk.parts == task.parts) finish<outputs, tile_rows>(task, output, first_row, dots);
}

/// Tiles of rows from first_row on; the first `large` tiles have as many rows as fit, the others one fewer.
struct RowTiles {
  std::int32_t first_row, count, large;
};

/// One chunk for `blocks` blocks of outputs from `first_output` on, and all tiles of rows. `ahead`: what is
/// to be prefetched meanwhile, as much as the chunk reads.
template <typename Dot, int outputs, int rows>
void multiply_blocks(const ProductTask& task, std::int64_t first_output, int blocks, const RowTiles& tiles,
                     const Chunk& chunk, const std::byte* ahead, bool is_whole,
                     Resting<Dot, outputs * rows> (&resting)[group_tiles][group_blocks]) {
  constexpr int fewer = rows > 1 ? rows - 1 : 1;
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  // Lines are spread evenly over the pieces: those of every tile where there are enough.
  const bool spread = tiles.count >= outputs;
  std::int32_t row = tiles.first_row;
  for (std::int32_t tile = 0; tile < tiles.count; ++tile) {
    const int lines = spread ? (tile < outputs ? 1 : 0) : (tile == 0 ? outputs : 0);
    const std::byte* next = ahead + (spread ? tile * weight_step : 0);
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t output = first_output + block * outputs;
      auto& own = is_whole ? resting[0][0] : resting[tile][block];  // what waits for no other chunk
      if (tile < tiles.large)
        multiply_chunk<Dot, outputs, rows, rows>(task, output, row, chunk, {next, lines}, own);
      else
        multiply_chunk<Dot, outputs, rows, fewer>(task, output, row, chunk, {next, lines}, own);
      next += chunk.steps * outputs * weight_step;
    }
    row += tile < tiles.large ? rows : fewer;
  }
}

/// Outputs [begin, end) for tiles of rows.
template <typename Dot, int outputs, int rows>
void multiply_tiles(const ProductTask& task, std::int64_t begin, std::int64_t end, const RowTiles& tiles) {
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  const Strides strides = strides_of<Dot>(task);
  const Cut cut = cut_of<Dot>(task);
  Resting<Dot, outputs * rows> resting[group_tiles][group_blocks];
  const std::int64_t block_bytes = outputs * strides.weight_row;
  const std::int64_t fit = group_bytes / (task.parts * block_bytes);
  const std::int64_t at_once = fit < 2 ? 2 : (fit < group_blocks ? fit : group_blocks);
  for (std::int64_t group = begin; group < end; group += at_once * outputs) {
    const std::int64_t left = (end - group) / outputs;
    const int blocks = static_cast<int>(left < at_once ? left : at_once);
    for (std::int64_t part = 0; part < task.parts; part += cut.parts_at_once) {
      // The next group's lines, in address order.
      const std::byte* ahead =
          task.weights + part * strides.weight_part + group * strides.weight_row + blocks * block_bytes;
      for (std::int64_t place = 0; place < cut.chunks_of_part; ++place) {
        const Chunk chunk = chunk_of<Dot>(task, cut, part, place);
        multiply_blocks<Dot, outputs, rows>(task, group, blocks, tiles, chunk, ahead, cut.is_whole(task),
                                            resting);
        ahead += blocks * chunk.steps * outputs * weight_step;
      }
    }
  }
}

template <typename Dot, int rows>
void multiply_rows(const ProductTask& task, std::int64_t begin, std::int64_t end, const RowTiles& tiles) {
  constexpr int at_once = outputs_at_once<Dot>(rows);
  const std::int64_t even_end = end - (end - begin) % at_once;
  if constexpr (rows <= 2) {
    for (std::int64_t output = begin; output < even_end; output += at_once)
      multiply_whole<Dot, at_once, rows>(task, output, tiles.first_row);
    for (std::int64_t output = even_end; output < end; ++output)
      multiply_whole<Dot, 1, rows>(task, output, tiles.first_row);
  } else {
    multiply_tiles<Dot, at_once, rows>(task, begin, even_end, tiles);
    multiply_tiles<Dot, 1, rows>(task, even_end, end, tiles);
  }
}

template <typename Dot>
void multiply_group(const ProductTask& task, std::int64_t begin, std::int64_t end, std::int32_t first_row,
                    std::int32_t n) {
  constexpr std::int32_t max_rows = Dot::max_accumulators >= 24 ? 8 : 4;
  const std::int32_t count = (n + max_rows - 1) / max_rows;
  const std::int32_t rows = (n + count - 1) / count;
  const RowTiles tiles{first_row, count, n - count * (rows - 1)};
  switch (rows) {
    case 1:
      return multiply_rows<Dot, 1>(task, begin, end, tiles);
    case 2:
      return multiply_rows<Dot, 2>(task, begin, end, tiles);
    case 3:
      return multiply_rows<Dot, 3>(task, begin, end, tiles);
    case 4:
      return multiply_rows<Dot, 4>(task, begin, end, tiles);
    default:
      break;
  }
  if constexpr (max_rows > 4) {
    switch (rows) {
      case 5:
        return multiply_rows<Dot, 5>(task, begin, end, tiles);
      case 6:
        return multiply_rows<Dot, 6>(task, begin, end, tiles);
      case 7:
        return multiply_rows<Dot, 7>(task, begin, end, tiles);
      default:
        return multiply_rows<Dot, 8>(task, begin, end, tiles);
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
