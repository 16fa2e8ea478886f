// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Fills with independent standard normal numbers, a function of (seed, index) alone: SplitMix64 and Box and
/// Muller's transform, since the standard library's distributions differ between implementations. With
/// `first` the same numbers from that place on.
void fill_normal(std::uint64_t seed, std::uint64_t index, std::span<double> out, std::size_t first = 0);

/// Student's quantile where the normal one is z (Abramowitz and Stegun 26.7.5); off by less than 2e-3 from
/// nine degrees of freedom on, by 2 % of three.
[[nodiscard]] double student_quantile(double z, double freedom);

/// fill_normal()'s numbers of one seed, each made once. Indices apart from one another may be asked for by
/// several threads at once.
class CachedNormals {
 public:
  /// `count`: of the indices, which begin at 0.
  CachedNormals(std::uint64_t seed, std::size_t count) : seed_(seed), numbers_(count) {}

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::size_t count() const { return numbers_.size(); }
  /// The first `size` numbers of an index; valid until more of it are asked for.
  [[nodiscard]] std::span<const double> first(std::uint64_t index, std::size_t size);

 private:
  std::uint64_t seed_;
  std::vector<std::vector<double>> numbers_;
};

}  // namespace draftscope::simulator
