// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The k highest logits of each head row, found while the head's blocks are still in the cache. Order: higher
// logit first, ties to the lower token id; a NaN ranks below everything. The order is total, so neither
// blocks nor threads can change the result.

#include <draftscope/engine/backend.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine::cpu {

class TopTokens {
 public:
  /// Forgets everything; allocates only if a batch is larger than any before.
  void reset(std::int32_t threads, std::int32_t rows, std::int32_t k);
  /// Offers logits of tokens first_token, … of one row. `maximum` is at least the highest of them.
  void offer(std::int32_t thread, std::int32_t row, std::span<const float> logits, std::int32_t first_token,
             float maximum);
  /// Writes the k best tokens over all threads, best first, without probabilities. Call it once per row.
  void merge(std::int32_t row, std::span<TopToken> out);

 private:
  [[nodiscard]] std::span<TopToken> list(std::int32_t thread, std::int32_t row);
  [[nodiscard]] std::int32_t& count(std::int32_t thread, std::int32_t row);

  std::int32_t threads_ = 0;
  std::int32_t rows_ = 0;
  std::int32_t k_ = 0;
  std::size_t stride_ = 0;  // stride of threads' lists: whole cache lines, so that threads share none
  std::vector<TopToken> lists_;
  std::vector<std::int32_t> counts_;
};

}  // namespace draftscope::engine::cpu
