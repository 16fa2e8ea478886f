// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes the table of a whole kernel set from one vector type.

#include <string_view>

#include "cpu/kernels/vector_attention.h"
#include "cpu/kernels/vector_elementwise.h"
#include "cpu/kernels/vector_products.h"

namespace draftscope::engine::cpu {

template <typename V, DType dtype>
void vector_pack(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  using Dot = WideningDot<V, dtype>;
  const std::int64_t row_bytes = activation_row_bytes<Dot>(depth);
  auto* out = reinterpret_cast<float*>(set + index * row_bytes);
  for (std::int64_t k = 0; k < depth; ++k) {
    if constexpr (dtype == DType::bf16) {
      std::uint16_t rounded = 0;
      vector_to_bf16<V>(row + k, 1, &rounded);
      const std::uint32_t bits = static_cast<std::uint32_t>(rounded) << 16;
      __builtin_memcpy(out + k, &bits, sizeof bits);
    } else {
      out[k] = row[k];
    }
  }
  for (std::int64_t k = depth; k < row_bytes / Dot::activation_bytes; ++k) out[k] = 0.0F;
}

template <typename V, DType dtype>
constexpr ProductKernels vector_products{set_bytes_of<WideningDot<V, dtype>>, vector_pack<V, dtype>,
                                         vector_product<WideningDot<V, dtype>>};

template <typename V>
[[nodiscard]] Kernels vector_kernels(std::string_view name, const PackedProducts& packed) {
  return {name,
          {vector_products<V, DType::f32>, vector_products<V, DType::bf16>, vector_products<V, DType::f16>},
          {vector_attention<V, DType::f32>, vector_attention<V, DType::bf16>},
          vector_rms_norm<V>,
          {vector_gate<V, Silu<V>>, vector_gate<V, GeluTanh<V>>},
          vector_relu_squared<V>,
          vector_xielu<V>,
          vector_soft_cap<V>,
          vector_to_bf16<V>,
          vector_block_softmax<V>,
          &packed};
}

}  // namespace draftscope::engine::cpu
