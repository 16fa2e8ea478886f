// SPDX-License-Identifier: GPL-3.0-or-later
#include "kv_cache.h"

#include <cstring>

#include "numbers/bf16.h"

namespace draftscope::engine::cpu {
namespace {
constexpr std::int32_t vector_elements = 16;  // elements of the widest registers, as kernels.h requires
}

Result<KvCache> KvCache::allocate(const speculation::ModelShape& shape, DType dtype, std::int32_t rows) {
  KvCache cache;
  cache.dtype_ = dtype;
  cache.n_layers_ = shape.n_layers;
  cache.rows_ = rows;
  cache.head_dim_ = shape.head_dim;
  cache.head_stride_ = (shape.head_dim + vector_elements - 1) / vector_elements * vector_elements;
  cache.head_bytes_ = static_cast<std::size_t>(cache.head_stride_) * dtype_bytes(dtype);
  const std::size_t row_bytes = cache.head_bytes_ * static_cast<std::size_t>(shape.n_kv_heads);
  cache.row_bytes_ = static_cast<std::int64_t>(row_bytes);
  cache.plane_bytes_ = row_bytes * static_cast<std::size_t>(rows);
  DRAFTSCOPE_TRY_ASSIGN(cache.memory_,
                        Memory::allocate(2 * static_cast<std::size_t>(shape.n_layers) * cache.plane_bytes_));
  cache.positions_.assign(static_cast<std::size_t>(rows), 0);
  return cache;
}

void KvCache::store(std::byte* row_of_head, const float* head) const {
  if (dtype_ == DType::f32) {
    std::memcpy(row_of_head, head, static_cast<std::size_t>(head_dim_) * sizeof(float));
    return;
  }
  auto* out = reinterpret_cast<std::uint16_t*>(row_of_head);
  for (std::int32_t d = 0; d < head_dim_; ++d) out[d] = float_to_bf16(head[d]);
}

void KvCache::move(CacheMove move) {
  if (move.from == move.to) return;
  const auto bytes = static_cast<std::size_t>(row_bytes_);
  for (std::int32_t index = 0; index < 2 * n_layers_; ++index)
    std::memcpy(plane(index, 0) + static_cast<std::size_t>(move.to) * bytes,
                plane(index, 0) + static_cast<std::size_t>(move.from) * bytes, bytes);
  set_position(move.to, positions_[static_cast<std::size_t>(move.from)]);
}

}  // namespace draftscope::engine::cpu
