// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The product of packed_products.h for any instruction set that has a Lanes type, which multiplies a vector
// of weights of one quad with four activations. A group of weights is one sequential stream. It is read from
// memory once for up to Lanes::max_rows rows, and from the caches again for more.

#include <immintrin.h>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "activations.h"
#include "cpu/processor.h"
#include "packed_products.h"

namespace draftscope::engine::cpu {

/// Prefetch distance in bytes. The stream continues into the next group, whereas the hardware prefetcher
/// stops at each page.
inline constexpr std::int64_t packed_prefetch_bytes = 4096;
/// Whether a product prefetches its weights on every processor. Where streams want no prefetches, most
/// formats multiply a single row faster than memory serves the weights, and software prefetches would only
/// slow the processor's own down. Unpacking takes longer where there are upper bits on eight lanes, or two of
/// them on sixteen.
template <typename Lanes, int place, int rows>
inline constexpr bool always_prefetches = rows > 1 || packed_layouts[place].high_bits >= Lanes::width / 8;

/// Unpacks the weights of a quad, still unsigned.
template <typename Lanes, int place, int quad>
[[gnu::always_inline]] inline typename Lanes::Ints quad_of(const std::byte* quants) {
  constexpr PackedLayout layout = packed_layouts[place];
  constexpr int low_bit = quad * layout.low_bits;
  auto w = Lanes::load(quants + low_bit / 8 * plane_bytes);
  if constexpr (layout.low_bits < 8) w = Lanes::template bits_at<low_bit % 8, layout.low_bits, 0>(w);
  if constexpr (layout.high_bits > 0) {
    constexpr int high_bit = quad * layout.high_bits;
    const auto high = Lanes::load(quants + (layout.low_bits + high_bit / 8) * plane_bytes);
    w = Lanes::bit_or(w, Lanes::template bits_at<high_bit % 8, layout.high_bits, layout.low_bits>(high));
  }
  return w;
}

template <typename Lanes, int place, int rows, int quad>
[[gnu::always_inline]] inline void add_quad(const std::byte* quants, const std::byte* x, std::int64_t x_row,
                                            typename Lanes::Ints* dots) {
  const auto w = Lanes::template weight<packed_layouts[place].bits()>(quad_of<Lanes, place, quad>(quants));
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) dots[row] = Lanes::dot(dots[row], w, x + row * x_row + 4 * quad);
}

/// Adds a block's part of Lanes::width outputs to the sums of all rows.
template <typename Lanes, int place, int rows>
[[gnu::always_inline]] inline void add_block(const std::byte* unit, std::int64_t sub, std::int64_t lane,
                                             const std::byte* x, std::int64_t x_row,
                                             typename Lanes::Floats* sums) {
  constexpr PackedLayout layout = packed_layouts[place];
  const std::byte* quants = unit + layout.header_bytes() + sub * layout.quant_bytes() + 4 * lane;
  const auto activation = [&](int row) { return reinterpret_cast<const ActivationBlock*>(x + row * x_row); };
  const auto scale = Lanes::halves(unit + sub * layout.half_step() + 2 * lane);
  const std::byte* own = unit + layout.half_bytes() + lane;
  typename Lanes::Ints dots[rows];
  if constexpr (layout.own_scales == 2) {
    const auto add_step = [&](int half) __attribute__((always_inline)) {
      const auto step = Lanes::mul(scale, Lanes::bytes(own + (sub * 2 + half) * group_outputs));
#pragma GCC unroll 8
      for (int row = 0; row < rows; ++row)
        sums[row] = Lanes::fma(Lanes::mul(step, Lanes::all(&activation(row)->scale)),
                               Lanes::to_floats(dots[row]), sums[row]);
    };
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
      dots[row] = Lanes::template start<layout.bits(), layout.zero_bits>(
          Lanes::all_ints(activation(row)->negative_halves[0]));
    add_quad<Lanes, place, rows, 0>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 1>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 2>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 3>(quants, x, x_row, dots);
    add_step(0);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
      dots[row] = Lanes::template start<layout.bits(), layout.zero_bits>(
          Lanes::all_ints(activation(row)->negative_halves[1]));
    add_quad<Lanes, place, rows, 4>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 5>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 6>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 7>(quants, x, x_row, dots);
    add_step(1);
  } else {
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      if constexpr (layout.has_zero)
        dots[row] = Lanes::template start<layout.bits(), layout.zero_bits>(
            Lanes::all_ints(activation(row)->negative_sum));
      else
        dots[row] = Lanes::no_ints();
    }
    add_quad<Lanes, place, rows, 0>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 1>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 2>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 3>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 4>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 5>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 6>(quants, x, x_row, dots);
    add_quad<Lanes, place, rows, 7>(quants, x, x_row, dots);
    auto step = scale;
    if constexpr (layout.has_two_levels()) step = Lanes::mul(scale, Lanes::bytes(own + sub * group_outputs));
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
      sums[row] = Lanes::fma(Lanes::mul(step, Lanes::all(&activation(row)->scale)),
                             Lanes::to_floats(dots[row]), sums[row]);
  }
  if constexpr (layout.has_minima) {
    auto minimum = Lanes::halves(unit + sub * layout.half_step() + 2 * group_outputs + 2 * lane);
    if constexpr (layout.has_two_levels())
      minimum = Lanes::negative(Lanes::mul(
          minimum, Lanes::bytes(own + (layout.unit_blocks() * layout.own_scales + sub) * group_outputs)));
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row)
      sums[row] = Lanes::fma(minimum, Lanes::all(&activation(row)->sum), sums[row]);
  }
}

/// Computes the sums of a group, [rows][16].
template <typename Lanes, int place, int rows, bool prefetches>
void multiply_group(const std::byte* group, std::int64_t blocks, const std::byte* x, std::int64_t x_row,
                    float* out) {
  constexpr PackedLayout layout = packed_layouts[place];
  constexpr int parts = group_outputs / Lanes::width;
  constexpr std::int64_t line = 64;
  constexpr std::int64_t block_bytes = layout.unit_bytes() / layout.unit_blocks();
  typename Lanes::Floats sums[parts][rows];
  for (auto& part : sums)
    for (auto& sum : part) sum = Lanes::zero();
  for (std::int64_t block = 0; block < blocks; block += layout.unit_blocks()) {
    for (std::int64_t sub = 0; sub < layout.unit_blocks(); ++sub) {
      const std::byte* ahead = group + packed_prefetch_bytes + sub * block_bytes;
#pragma GCC unroll 10
      for (std::int64_t i = 0; prefetches && i < block_bytes; i += line)
        _mm_prefetch(reinterpret_cast<const char*>(ahead + i), _MM_HINT_T0);
#pragma GCC unroll 2
      for (int part = 0; part < parts; ++part)
        add_block<Lanes, place, rows>(group, sub, std::int64_t{part} * Lanes::width, x, x_row, sums[part]);
      x += sizeof(ActivationBlock);
    }
    group += layout.unit_bytes();
  }
  for (int row = 0; row < rows; ++row)
    for (int part = 0; part < parts; ++part)
      Lanes::store(out + row * group_outputs + part * Lanes::width, sums[part][row]);
}

template <typename Lanes, int place, int rows>
void multiply_rows_of(const std::byte* group, std::int64_t blocks, std::int32_t n, const std::byte* x,
                      std::int64_t x_row, float* out) {
  if constexpr (rows > 1)
    if (n < rows) return multiply_rows_of<Lanes, place, rows - 1>(group, blocks, n, x, x_row, out);
  if constexpr (!always_prefetches<Lanes, place, rows>)
    if (!streams_want_prefetches())
      return multiply_group<Lanes, place, rows, false>(group, blocks, x, x_row, out);
  multiply_group<Lanes, place, rows, true>(group, blocks, x, x_row, out);
}

template <typename Lanes, int place>
void packed_product_of(const PackedTask& task, std::int64_t begin, std::int64_t end) {
  constexpr PackedLayout layout = packed_layouts[place];
  constexpr std::int64_t unit = layout.unit_blocks() * block_depth;
  const std::int64_t units = (task.matrix.depth + unit - 1) / unit;
  const std::int64_t x_row = activation_blocks_bytes(task.matrix.depth);
  const std::int32_t tiles = (task.rows + Lanes::max_rows - 1) / Lanes::max_rows;
  alignas(64) float sums[Lanes::max_rows * group_outputs];
  for (std::int64_t first = begin / group_outputs * group_outputs; first < end; first += group_outputs) {
    const std::byte* group = task.matrix.data + first / group_outputs * units * layout.unit_bytes();
    std::int32_t row = 0;
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
      const std::int32_t n = (task.rows - row + tiles - tile - 1) / (tiles - tile);
      multiply_rows_of<Lanes, place, Lanes::max_rows>(group, units * layout.unit_blocks(), n,
                                                      task.activations + row * x_row, x_row, sums);
      finish_group(task, first, begin, end, row, n, sums);
      row += n;
    }
  }
}

/// Calls the product of the layout at `place`, one of `places`.
template <typename Lanes, std::size_t... places>
void product_at(int place, const PackedTask& task, std::int64_t begin, std::int64_t end,
                std::index_sequence<places...> /*all*/) {
  ((place == static_cast<int>(places) ? packed_product_of<Lanes, static_cast<int>(places)>(task, begin, end)
                                      : void()),
   ...);
}

template <typename Lanes>
void vector_packed_product(const PackedTask& task, std::int64_t begin, std::int64_t end) {
  product_at<Lanes>(packed_place(task.matrix.layout->format), task, begin, end,
                    std::make_index_sequence<packed_layouts.size()>());
}

template <typename Lanes>
void vector_round_row(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  round_row(
      row, index, depth, set, [](const float* values, ActivationBlock& block) __attribute__((always_inline)) {
        Lanes::round(values, block);
      });
}

}  // namespace draftscope::engine::cpu
