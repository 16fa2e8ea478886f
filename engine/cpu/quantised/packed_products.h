// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Products of packed weights with rounded activations, as one pair of function pointers per instruction set.
//
// Order of summation, identical in every set, so that all give the same bits: blocks of 32 along k ascending,
// one fp32 sum per element. For each of its steps, a block adds fma(step · activation scale, Σ quants ·
// quants, sum), where the integer sum is exact. If the format has minima, it then adds fma(minimum,
// activation sum, sum). An element is thus a function of only its weight row and its activation row.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "packed_matrix.h"

namespace draftscope::engine::cpu {

/// out[row][o] (+)= Σ_k weights[o][k] · activations[row][k] + bias[o].
struct PackedTask {
  PackedMatrix matrix;
  const std::byte* activations = nullptr;  ///< a set filled by PackedProducts::pack
  const float* bias = nullptr;             ///< [outputs], or null
  std::int32_t rows = 0;
  bool accumulate = false;  ///< whether to add to the contents of `out`
  float* out = nullptr;     ///< element (row, o) at row * out_stride + o
  std::int64_t out_stride = 0;
};

struct PackedProducts {
  std::string_view name;
  /// Rounds a row into place `index` of a set of activation_set_bytes() bytes.
  void (*pack)(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) = nullptr;
  /// Computes outputs [begin, end).
  void (*product)(const PackedTask& task, std::int64_t begin, std::int64_t end) = nullptr;
};

[[nodiscard]] const PackedProducts& portable_packed_products();
[[nodiscard]] const PackedProducts& avx2_packed_products();
[[nodiscard]] const PackedProducts& avx512_packed_products();
[[nodiscard]] const PackedProducts& avx512_vnni_packed_products();

/// Products that this processor and operating system can run, slowest first.
[[nodiscard]] std::vector<const PackedProducts*> available_packed_products();

/// Writes the sums of a tile, [rows][16], for the group that begins at `first_output`. Writes only outputs
/// [begin, end).
[[gnu::always_inline]] inline void finish_group(const PackedTask& task, std::int64_t first_output,
                                                std::int64_t begin, std::int64_t end, std::int32_t first_row,
                                                std::int32_t rows, const float* sums) {
  const std::int64_t from = begin > first_output ? begin : first_output;
  const std::int64_t to = end < first_output + group_outputs ? end : first_output + group_outputs;
  for (std::int32_t row = 0; row < rows; ++row) {
    float* out = task.out + (first_row + row) * task.out_stride;
    for (std::int64_t o = from; o < to; ++o) {
      float dot = sums[row * group_outputs + o - first_output];
      if (task.bias != nullptr) dot += task.bias[o];
      out[o] = task.accumulate ? out[o] + dot : dot;
    }
  }
}

}  // namespace draftscope::engine::cpu
