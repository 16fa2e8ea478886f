// SPDX-License-Identifier: GPL-3.0-or-later
// The reference: what every other set computes, in loops that any compiler and processor take.

#include <algorithm>
#include <array>
#include <cmath>

#include "activations.h"
#include "numbers/bf16.h"
#include "packed_products.h"

namespace draftscope::engine::cpu {
namespace {

void round_block(const float* values, ActivationBlock& block) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < block_depth; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU);
  const Rounding rounding = rounding_of(largest);
  std::array<std::int32_t, 2> sums{};
  for (std::int64_t i = 0; i < block_depth; ++i) {
    const auto quant = rounding.inverse == 0.0F
                           ? 0
                           : static_cast<std::int32_t>(std::nearbyint(values[i] * rounding.inverse));
    block.quants[i] = static_cast<std::int8_t>(quant);
    sums[static_cast<std::size_t>(i / 16)] += quant;
  }
  finish_block(block, rounding.scale, sums[0], sums[1]);
}

void pack(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  round_row(row, index, depth, set, round_block);
}

/// Adds one block of one output to the sum.
float add_block(const PackedLayout& layout, const QuantisedBlock& w, const ActivationBlock& x, float sum) {
  const float scale = f16_to_float(w.scale);
  const int steps = layout.own_scales == 2 ? 2 : 1;
  const std::int64_t values = block_depth / steps;
  for (int i = 0; i < steps; ++i) {
    std::int32_t dot = 0;
    for (std::int64_t k = i * values; k < (i + 1) * values; ++k)
      dot += (static_cast<std::int32_t>(w.quants[static_cast<std::size_t>(k)]) - layout.zero()) * x.quants[k];
    const float step = layout.has_two_levels()
                           ? scale * static_cast<float>(w.own_scales[static_cast<std::size_t>(i)])
                           : scale;
    sum = std::fma(step * x.scale, static_cast<float>(dot), sum);
  }
  if (!layout.has_minima) return sum;
  const float minimum = f16_to_float(w.minimum);
  return std::fma(layout.has_two_levels() ? -(minimum * static_cast<float>(w.own_minimum)) : minimum, x.sum,
                  sum);
}

void product(const PackedTask& task, std::int64_t begin, std::int64_t end) {
  constexpr std::int32_t max_rows = 64;
  const PackedMatrix& matrix = task.matrix;
  const std::int64_t blocks = packed_blocks(*matrix.layout, matrix.depth);
  const std::int64_t x_row = activation_blocks_bytes(matrix.depth);
  for (std::int64_t o = begin; o < end; ++o)
    for (std::int32_t first = 0; first < task.rows; first += max_rows) {
      const std::int32_t rows = std::min(max_rows, task.rows - first);
      std::array<float, max_rows> sums{};
      for (std::int64_t block = 0; block < blocks; ++block) {
        const QuantisedBlock w = get_block(matrix, o, block);
        for (std::int32_t row = 0; row < rows; ++row) {
          const auto* x = reinterpret_cast<const ActivationBlock*>(task.activations + (first + row) * x_row);
          float& sum = sums[static_cast<std::size_t>(row)];
          sum = add_block(*matrix.layout, w, x[block], sum);
        }
      }
      for (std::int32_t row = 0; row < rows; ++row) {
        float dot = sums[static_cast<std::size_t>(row)];
        if (task.bias != nullptr) dot += task.bias[o];
        float& out = task.out[(first + row) * task.out_stride + o];
        out = task.accumulate ? out + dot : dot;
      }
    }
}

}  // namespace

const PackedProducts& portable_packed_products() {
  static const PackedProducts products{"portable", pack, product};
  return products;
}

}  // namespace draftscope::engine::cpu
