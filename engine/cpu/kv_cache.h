// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// K and V of every layer and cache row, and the position each row was written for (used by the sliding
// window). Rows are [n_kv_heads][head_stride]: heads are padded with zeros to whole vectors.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.h"

namespace draftscope::engine::cpu {

class KvCache {
 public:
  [[nodiscard]] static Result<KvCache> allocate(const speculation::ModelShape& shape, DType dtype,
                                                std::int32_t rows);

  [[nodiscard]] std::int32_t rows() const { return rows_; }
  [[nodiscard]] std::int32_t head_stride() const { return head_stride_; }
  [[nodiscard]] std::int64_t row_bytes() const { return row_bytes_; }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

  /// Address of row 0 of a layer's K or V at one K/V head.
  [[nodiscard]] std::byte* keys(std::int32_t layer, std::int32_t head) const {
    return plane(2 * layer, head);
  }
  [[nodiscard]] std::byte* values(std::int32_t layer, std::int32_t head) const {
    return plane(2 * layer + 1, head);
  }
  /// Writes one head's `head_dim` values, rounded to the cache's type.
  void store(std::byte* row_of_head, const float* head) const;

  void set_position(std::int32_t row, std::int32_t position) {
    positions_[static_cast<std::size_t>(row)] = position;
  }
  [[nodiscard]] std::span<const std::int32_t> positions() const { return positions_; }

  void move(CacheMove move);

 private:
  [[nodiscard]] std::byte* plane(std::int32_t index, std::int32_t head) const {
    return memory_.data() + static_cast<std::size_t>(index) * plane_bytes_ +
           static_cast<std::size_t>(head) * head_bytes_;
  }

  Memory memory_;
  DType dtype_ = DType::bf16;
  std::int32_t n_layers_ = 0;
  std::int32_t rows_ = 0;
  std::int32_t head_dim_ = 0;
  std::int32_t head_stride_ = 0;
  std::int64_t row_bytes_ = 0;
  std::size_t head_bytes_ = 0;
  std::size_t plane_bytes_ = 0;
  std::vector<std::int32_t> positions_;
};

}  // namespace draftscope::engine::cpu
