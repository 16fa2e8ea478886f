// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranks that compute one model together, each on its part of the weights. A rank is a process (mpi_ranks.h)
// or a thread (thread_ranks.h).
//
// Every rank calls the same operations in the same order, with as many values as the others. The order of a
// sum is fixed: neighbours are added, then neighbours of those sums, and so on, (0+1)+(2+3) for four ranks.
// So every rank has the same bits, each time, and a rank may add up a power of two of parts by itself, in
// that order (add_neighbours), without a bit of the sum over all ranks showing it.
//
// Thread-safety: one caller at a time on each rank.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <span>

namespace draftscope::engine {

class Collective {
 public:
  virtual ~Collective() = default;
  [[nodiscard]] virtual std::int32_t rank() const = 0;  ///< of the caller, from 0
  [[nodiscard]] virtual std::int32_t size() const = 0;  ///< number of ranks
  /// The caller's place among the ranks of its machine, from 0.
  [[nodiscard]] virtual std::int32_t local_rank() const { return rank(); }
  /// Each value becomes the sum of all ranks' values at its place, on every rank. Errors, here and below: a
  /// rank has ended or calls something else. Nothing can be called after one.
  [[nodiscard]] virtual Result<void> all_reduce(std::span<float> values) = 0;
  /// Rank 0's bytes come to every rank.
  [[nodiscard]] virtual Result<void> broadcast(std::span<std::byte> bytes) = 0;
  /// Rank 0 has every rank's bytes, one rank's behind another's, in `all`, which is size() times as large as
  /// `own`; others leave it empty.
  [[nodiscard]] virtual Result<void> gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  /// Says that all ranks know of the end and call nothing any more. A rank that is destroyed before that ends
  /// the others, too.
  virtual void conclude() = 0;
  [[nodiscard]] virtual bool has_concluded() const = 0;
  /// This rank takes part in nothing any more, for a reason of its own that the others can't know of: it
  /// fails all calls with the reason, conclude() does nothing, and the others learn that it has ended, at the
  /// latest when it is destroyed.
  virtual void give_up(Error reason) = 0;
};

/// Adds `parts` arrays of `values` values, `stride` values apart, in the order of a sum over ranks. The first
/// has the sum then, the others are used up.
inline void add_neighbours(float* first, std::int64_t parts, std::int64_t stride, std::int64_t values) {
  for (std::int64_t step = 1; step < parts; step *= 2)
    for (std::int64_t part = 0; part + step < parts; part += 2 * step) {
      float* const sum = first + part * stride;
      const float* const next = sum + step * stride;
      for (std::int64_t i = 0; i < values; ++i) sum[i] += next[i];
    }
}

}  // namespace draftscope::engine
