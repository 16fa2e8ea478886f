// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Finds every invalid argument of forward() before anything is written.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <span>

namespace draftscope::engine::cpu {

struct Limits {
  std::int32_t cache_rows = 0;
  std::int32_t max_rows = 0;
  std::int32_t first_reserved = 0;  ///< first number in the bank of states that is not used by rounds
  std::int32_t states = 0;          ///< size of the bank of states; 0 without a bank
};

[[nodiscard]] Result<void> check_batch(const Batch& batch, const speculation::ModelShape& shape,
                                       const Limits& limits);
[[nodiscard]] Result<void> check_moves(std::span<const CacheMove> moves, std::int32_t cache_rows);

/// Words of Batch::ancestors per row, if they are given.
[[nodiscard]] inline std::size_t ancestor_words(const Batch& batch) {
  const auto uncommitted = static_cast<std::size_t>(batch.first_row - batch.committed) + batch.rows.size();
  return (uncommitted + 63) / 64;
}

}  // namespace draftscope::engine::cpu
