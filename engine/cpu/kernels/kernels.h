// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The operations whose inner loops depend on the instruction set, as one table of function pointers per set.
//
// Order of summation, in every set: an element of a product is a function of only its weight row and its
// activation row. An attention output is a function of the query and of the list of keys in order. Neither
// the number of rows in a call nor the division of a range of outputs may change a bit. Two sets may differ
// in rounding.

#include <draftscope/engine/checkpoint.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "cpu/quantised/packed_products.h"

namespace draftscope::engine::cpu {

/// Products of up to this many rows always run on these kernels.
inline constexpr std::int32_t max_invariant_rows = 64;

/// out[row][o] (+)= Σ_k weights[o][k] · activations[row][k] + bias[o], fp32 sums.
struct ProductTask {
  const std::byte* weights = nullptr;      ///< [outputs][depth] row-major, any alignment
  const std::byte* activations = nullptr;  ///< a set filled by ProductKernels::pack
  const float* bias = nullptr;             ///< [outputs], or null
  std::int64_t depth = 0;
  std::int32_t rows = 0;
  bool accumulate = false;  ///< whether to add to the contents of `out`
  float* out = nullptr;     ///< element (row, o) at row * out_stride + o
  std::int64_t out_stride = 0;
  std::int64_t outputs = 0;  ///< rows of the whole matrix, all of which may be read
};

/// Products with weights of one type. Per product, activations are rounded and laid out once into a "set",
/// which is 64-byte aligned. The place of row i in a set does not depend on the number of rows.
struct ProductKernels {
  std::size_t (*set_bytes)(std::int32_t rows, std::int64_t depth) = nullptr;
  void (*pack)(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) = nullptr;
  /// Computes outputs [begin, end).
  void (*product)(const ProductTask& task, std::int64_t begin, std::int64_t end) = nullptr;
};

/// The cache rows that a query attends to, in order: [begin, end), then `extra`. Never empty. Its functions
/// are always inlined, so that no copy compiled for one instruction set is linked into code for another.
struct KeyList {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  const std::int32_t* extra = nullptr;
  std::int32_t n_extra = 0;
  [[nodiscard, gnu::always_inline]] std::int32_t size() const { return end - begin + n_extra; }
  [[nodiscard, gnu::always_inline]] std::int32_t row(std::int32_t place) const {
    return place < end - begin ? begin + place : extra[place - (end - begin)];
  }
};

/// Computes softmax(queries · keysᵀ) · values for one query row and the heads that share one K/V head.
struct AttentionTask {
  const float* queries = nullptr;  ///< [heads][head_stride], rotated and scaled, zeros beyond head_dim
  std::int32_t heads = 0;
  std::int32_t head_stride = 0;       ///< a multiple of 16
  const std::byte* keys = nullptr;    ///< cache row r of this K/V head at r * row_bytes, head_stride elements
  const std::byte* values = nullptr;  ///< same layout as the keys
  std::int64_t row_bytes = 0;
  float score_cap = 0.0F;  ///< scores become cap · tanh(score / cap); 0 = no cap
  KeyList list;
  float* scores = nullptr;        ///< workspace [heads][score_stride]
  std::int64_t score_stride = 0;  ///< a multiple of 16, at least list.size()
  float* out = nullptr;           ///< [heads][head_stride]
};

/// The maximum and Σ exp(logit - max) of a block of logits; the maximum ignores NaNs. The sum is NaN if any
/// logit is NaN or +∞, and 0 if all are −∞ (a block of masked tokens).
struct BlockSoftmax {
  float maximum = 0.0F;
  float sum = 0.0F;
};

/// The value to subtract from a block's logits: its maximum, if that is not −∞. Always inlined, like the
/// functions of KeyList.
[[nodiscard, gnu::always_inline]] inline float softmax_shift(float maximum) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  return maximum < lowest ? lowest : maximum;
}

/// Numbers of xIELU: α_p·x² + β·x above 0, and α_n·(e^min(x, ε) − 1 − x) + β·x elsewhere.
struct Xielu {
  float alpha_p = 0.0F;
  float alpha_n = 0.0F;
  float beta = 0.0F;
  float epsilon = 0.0F;
};

struct Kernels {
  std::string_view name;
  std::array<ProductKernels, 3> products;                        ///< by DType of the weights
  std::array<void (*)(const AttentionTask&), 2> attention = {};  ///< K/V in f32 or bf16 (DType order)
  /// Computes out = row / rms(row) · weight.
  void (*rms_norm)(const float* row, const float* weight, std::int64_t n, float epsilon,
                   float* out) = nullptr;
  /// Computes gate = activation(gate) · up, with the same bits for any division of [0, n); indexed by
  /// Activation, for those of MLPs with a gate.
  std::array<void (*)(float* gate, const float* up, std::int64_t n), 2> gate = {};
  /// Compute values = max(values, 0)² and xIELU, with the same bits for any division of [0, n).
  void (*relu_squared)(float* values, std::int64_t n) = nullptr;
  void (*xielu)(float* values, const Xielu& numbers, std::int64_t n) = nullptr;
  /// Computes values = cap · tanh(values / cap), with the same bits for any division of [0, n).
  void (*soft_cap)(float* values, float cap, std::int64_t n) = nullptr;
  void (*to_bf16)(const float* row, std::int64_t n, std::uint16_t* out) = nullptr;
  BlockSoftmax (*block_softmax)(const float* logits, std::int64_t n) = nullptr;
  const PackedProducts* packed = nullptr;  ///< products of packed matrices, with the same bits in every set
};

[[nodiscard]] const Kernels& portable_kernels();
[[nodiscard]] const Kernels& avx2_kernels();
[[nodiscard]] const Kernels& avx512_kernels();
[[nodiscard]] const Kernels& avx512_bf16_kernels();
[[nodiscard]] const Kernels& amx_bf16_kernels();

/// The sets that this processor and operating system can run, slowest first.
[[nodiscard]] std::vector<const Kernels*> available_kernels();

}  // namespace draftscope::engine::cpu
