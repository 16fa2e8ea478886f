// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Fills `out` with independent standard normal numbers, a pure function of (seed, index). It uses SplitMix64
/// and Box and Muller's transform, since the standard library's distributions differ between implementations.
/// `first` skips that many numbers.
void fill_normal(std::uint64_t seed, std::uint64_t index, std::span<double> out, std::size_t first = 0);

/// Student's quantile where the normal one is z (Abramowitz and Stegun 26.7.5). The error is below 2e-3 from
/// nine degrees of freedom on, and 2 % at three.
[[nodiscard]] double student_quantile(double z, double freedom);

/// Cached numbers of fill_normal() for one seed. Different indices may be requested by several threads at
/// once.
class CachedNormals {
 public:
  /// Creates an empty cache; indices go from 0 to `count` − 1.
  CachedNormals(std::uint64_t seed, std::size_t count) : seed_(seed), numbers_(count) {}

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::size_t count() const { return numbers_.size(); }
  /// First `size` numbers of an index; valid until more of them are requested.
  [[nodiscard]] std::span<const double> first(std::uint64_t index, std::size_t size);

 private:
  std::uint64_t seed_;
  std::vector<std::vector<double>> numbers_;
};

}  // namespace draftscope::simulator
