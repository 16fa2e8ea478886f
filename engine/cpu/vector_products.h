// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weight-streaming product, for any instruction set that has a Dot: how a step of weights along k meets a
// step of activations.
//
//   Math     out[row][o] (+)= Σ_k w[o][k] · x[row][k] + bias[o]
//   Order    every element has one vector accumulator over all of k and one fixed tree at its end; blocks of
//            outputs and rows only decide which accumulators are alive together
//   Memory   a block of weight rows lies in one piece of memory. While it is multiplied, the next block is
//            prefetched in address order: one sequential stream a thread, which memory serves faster than the
//            block's rows side by side, and which goes on while many rows keep the arithmetic busy.

#include "kernels.h"

#include <immintrin.h>
#include <cstddef>
#include <cstdint>

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
  static constexpr int most_accumulators = Vector::width == 16 ? 24 : 12;

  static Weight weight(const std::byte* p) { return Vector::template load_as<dtype>(p); }
  static Weight weight_first(const std::byte* p, std::int64_t n) {
    return Vector::template load_first_as<dtype>(p, n);
  }
  static Activation activation(const std::byte* p) { return Vector::load(reinterpret_cast<const float*>(p)); }
  static Weight multiply_add(Weight sum, Weight w, Activation x) { return Vector::fma(w, x, sum); }
};

/// Bytes of one row of activations: whole steps, zeros at the end.
template <typename Dot>
[[nodiscard]] std::int64_t activation_row_bytes(std::int64_t depth) {
  return (depth + Dot::step - 1) / Dot::step * Dot::step * Dot::activation_bytes;
}

template <typename Dot>
std::size_t set_bytes_of(std::int32_t rows, std::int64_t depth) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(activation_row_bytes<Dot>(depth));
}

/// Sums of `outputs` weight rows from `weights` on times `rows` rows of activations.
template <typename Dot, int outputs, int rows>
void multiply_block(const std::byte* weights, const std::byte* activations, std::int64_t depth,
                    const std::byte* prefetch, float* sums) {
  using Sums = typename Dot::Sums;
  const std::int64_t row_bytes = depth * Dot::weight_bytes;
  const std::int64_t activation_row = activation_row_bytes<Dot>(depth);
  constexpr std::int64_t weight_step = Dot::step * Dot::weight_bytes;
  constexpr std::int64_t activation_step = Dot::step * Dot::activation_bytes;
  typename Sums::Value accumulators[outputs * rows];
  for (auto& accumulator : accumulators) accumulator = Sums::zero();

  const std::int64_t steps = depth / Dot::step;
  for (std::int64_t s = 0; s < steps; ++s) {
    typename Dot::Weight w[outputs];
    for (int o = 0; o < outputs; ++o) w[o] = Dot::weight(weights + o * row_bytes + s * weight_step);
    for (int o = 0; o < outputs; ++o)
      _mm_prefetch(reinterpret_cast<const char*>(prefetch + (s * outputs + o) * weight_step), _MM_HINT_T1);
    for (int row = 0; row < rows; ++row) {
      const auto x = Dot::activation(activations + row * activation_row + s * activation_step);
      for (int o = 0; o < outputs; ++o)
        accumulators[o * rows + row] = Dot::multiply_add(accumulators[o * rows + row], w[o], x);
    }
  }
  if (const std::int64_t rest = depth - steps * Dot::step; rest > 0) {
    for (int o = 0; o < outputs; ++o) {
      const auto w = Dot::weight_first(weights + o * row_bytes + steps * weight_step, rest);
      for (int row = 0; row < rows; ++row)
        accumulators[o * rows + row] =
            Dot::multiply_add(accumulators[o * rows + row], w,
                              Dot::activation(activations + row * activation_row + steps * activation_step));
    }
  }
  Sums::sums(accumulators, sums);
}

/// Weight rows multiplied together for a number of activation rows: as many accumulators as registers hold.
template <typename Dot>
constexpr int outputs_at_once(int rows) {
  const int fit = Dot::most_accumulators / rows;
  return fit > 8 ? 8 : (fit < 1 ? 1 : fit);
}

template <typename Dot, int outputs, int rows>
void finish_block(const ProductTask& task, std::int64_t first_output, std::int32_t first_row,
                  const float* sums) {
  for (int row = 0; row < rows; ++row) {
    float* out = task.out + (first_row + row) * task.out_stride + first_output;
    for (int o = 0; o < outputs; ++o) {
      const float dot = sums[o * rows + row] + (task.bias != nullptr ? task.bias[first_output + o] : 0.0F);
      out[o] = task.accumulate ? out[o] + dot : dot;
    }
  }
}

/// One block of outputs against one tile of rows; `pass` of `passes` over the block prefetches its part of
/// the next one.
template <typename Dot, int outputs, int rows>
void multiply_tile(const ProductTask& task, std::int64_t output, std::int32_t first_row, std::int64_t pass,
                   std::int64_t passes) {
  alignas(64) float sums[outputs * rows];
  const std::int64_t row_bytes = task.depth * Dot::weight_bytes;
  const std::byte* weights = task.weights + output * row_bytes;
  const std::byte* next = weights + outputs * row_bytes + pass * outputs * row_bytes / passes;
  multiply_block<Dot, outputs, rows>(
      weights, task.activations + first_row * activation_row_bytes<Dot>(task.depth), task.depth, next, sums);
  finish_block<Dot, outputs, rows>(task, output, first_row, sums);
}

/// Rows come in tiles of `rows` and, at the end, one fewer; `large` tiles have `rows`.
template <typename Dot, int rows>
void multiply_rows(const ProductTask& task, std::int64_t begin, std::int64_t end, std::int32_t tiles,
                   std::int32_t large) {
  constexpr int at_once = outputs_at_once<Dot>(rows);
  constexpr int fewer = rows > 1 ? rows - 1 : 1;
  std::int64_t output = begin;
  for (; output + at_once <= end; output += at_once) {
    std::int32_t row = 0;
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      if (tile < large)
        multiply_tile<Dot, at_once, rows>(task, output, row, tile, tiles);
      else
        multiply_tile<Dot, at_once, fewer>(task, output, row, tile, tiles);
      row += tile < large ? rows : fewer;
    }
  }
  for (; output < end; ++output) {
    std::int32_t row = 0;
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      if (tile < large)
        multiply_tile<Dot, 1, rows>(task, output, row, tile, tiles);
      else
        multiply_tile<Dot, 1, fewer>(task, output, row, tile, tiles);
      row += tile < large ? rows : fewer;
    }
  }
}

template <typename Dot>
void vector_product(const ProductTask& task, std::int64_t begin, std::int64_t end) {
  constexpr std::int32_t most_rows = Dot::most_accumulators >= 24 ? 8 : 4;
  const std::int32_t tiles = (task.rows + most_rows - 1) / most_rows;
  const std::int32_t rows = (task.rows + tiles - 1) / tiles;
  const std::int32_t large = task.rows - tiles * (rows - 1);
  switch (rows) {
    case 1:
      return multiply_rows<Dot, 1>(task, begin, end, tiles, large);
    case 2:
      return multiply_rows<Dot, 2>(task, begin, end, tiles, large);
    case 3:
      return multiply_rows<Dot, 3>(task, begin, end, tiles, large);
    case 4:
      return multiply_rows<Dot, 4>(task, begin, end, tiles, large);
    default:
      break;
  }
  if constexpr (most_rows > 4) {
    switch (rows) {
      case 5:
        return multiply_rows<Dot, 5>(task, begin, end, tiles, large);
      case 6:
        return multiply_rows<Dot, 6>(task, begin, end, tiles, large);
      case 7:
        return multiply_rows<Dot, 7>(task, begin, end, tiles, large);
      default:
        return multiply_rows<Dot, 8>(task, begin, end, tiles, large);
    }
  }
}

}  // namespace draftscope::engine::cpu
