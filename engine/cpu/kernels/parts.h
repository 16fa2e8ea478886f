// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sums of products in parts: a product over parts · depth values of k, of which each part has weights
// [outputs][depth] of its own, one part behind another. Each part is summed by itself, and the parts' sums
// are added as neighbours, (0+1)+(2+3), as those of ranks are (engine/ranks/collective.h): of eight parts a
// rank may add its own first, without a bit of the sum showing it. A bias is added to the first part's sum.
//
// Always inlined, so that no copy compiled for one instruction set is linked into code for another.

#include <cstdint>

namespace draftscope::engine::cpu {

/// The number of parts is a power of two up to this.
inline constexpr std::int64_t max_parts = 8;

/// Sums that wait for their neighbours: of one, two and four parts, up to n each.
template <int n>
using WaitingSums = float[3][n];

/// Adds the sums of the parts before `part` that are its neighbours, and leaves what has to wait for the
/// next. Called for each part in ascending order: with the last one, `sums` becomes the sum of all.
template <int n, int room>
[[gnu::always_inline]] inline void add_to_neighbours(std::int64_t part, std::int64_t parts, float (&sums)[n],
                                                     WaitingSums<room>& waiting) {
  static_assert(n <= room);
  constexpr int levels = 3;
  int level = 0;
  for (; level < levels && (part >> level & 1) != 0; ++level)
    for (int i = 0; i < n; ++i) sums[i] = waiting[level][i] + sums[i];
  if (part + 1 < parts)
    for (int i = 0; i < n; ++i) waiting[level][i] = sums[i];
}

}  // namespace draftscope::engine::cpu
