// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random numbers that are a function of (seed, stream), so that draws can be computed in any order by any
// number of threads. SplitMix64 (Steele, Lea and Flood 2014), started at a mixed value for each stream.

#include <cstddef>
#include <cstdint>

namespace draftscope::simulator {

class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed) + stream)) {}

  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15U); }

  /// In [0, count), by its upper bits: the bias is below count / 2^32.
  std::size_t index(std::size_t count) { return ((next() >> 32U) * count) >> 32U; }

  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }

 private:
  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace draftscope::simulator
