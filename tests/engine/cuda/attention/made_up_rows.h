// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random rows of a pass by their keys, and devices to run attention of them on.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "attention_device.h"
#include "emulated_gpu.h"
#include "random_model.h"

namespace draftscope::engine::test {

/// A device that takes blocks and warps in an order of its own.
inline std::unique_ptr<cuda::Gpu> emulated(int multiprocessors, std::uint64_t order) {
  return cuda::emulation::make_emulated_gpu(multiprocessors, cuda::emulation::usual_memory_bytes,
                                            static_cast<std::uint32_t>(order % 1000));
}

inline constexpr std::int32_t every_key = 1 << 30;

/// Every head_dim in turn.
inline AttentionShape random_attention(Random& random, int round, int cache_rows) {
  return {.head_dim = 32 * (round % 4 + 1),
          .n_kv_heads = pick(random, 1, 2),
          .group = pick(random, 1, 6),
          .cache_rows = cache_rows,
          .is_f16 = chance(random, 0.3)};
}

/// Row i after `context` keys and i rows before it; with a window of the last `window` keys, 0 = none.
inline AttentionRows chain_rows(int n, int context, int window = 0) {
  AttentionRows rows;
  for (int i = 0; i < n; ++i) {
    const int end = context + i + 1;
    rows.keys.push_back({window == 0 ? 0 : std::max(0, end - window), end, 0, 0});
    rows.query.push_back((7 * i + context) % n_made_up_queries);
  }
  rows.shared_keys = window == 0 ? every_key : 0;
  return rows;
}

/// Rows that each have the `context` keys, some of those before them, and themselves.
inline AttentionRows tree_rows(Random& random, int n, int context) {
  AttentionRows rows;
  for (int i = 0; i < n; ++i) {
    const auto begin = static_cast<std::int32_t>(rows.extra.size());
    for (int other = 0; other < i; ++other)
      if (chance(random, 0.4)) rows.extra.push_back(context + other);
    rows.extra.push_back(context + i);
    rows.keys.push_back({0, context, begin, static_cast<std::int32_t>(rows.extra.size())});
    rows.query.push_back((5 * i + context) % n_made_up_queries);
  }
  rows.shared_keys = context;
  return rows;
}

}  // namespace draftscope::engine::test
