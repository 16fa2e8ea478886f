// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random numbers that depend on their purpose, not on earlier draws: any thread, or a GPU, draws any of them
// in any order and gets the same bits. This header compiles for host and device.
//
// Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), checked against its
// known answers (std::philox_engine arrives with C++26). SplitMix64: Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators" (OOPSLA 2014).

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define DRAFTSCOPE_HOST_DEVICE __host__ __device__
#else
#define DRAFTSCOPE_HOST_DEVICE
#endif

namespace draftscope {

/// Runs the ten rounds of Philox4x32-10 in place: `counter` becomes the four random words.
DRAFTSCOPE_HOST_DEVICE constexpr void philox_rounds(std::uint32_t (&counter)[4], std::uint32_t (&key)[2]) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter[0] = static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0];
    counter[2] = static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1];
    counter[1] = static_cast<std::uint32_t>(product1);
    counter[3] = static_cast<std::uint32_t>(product0);
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
}

/// Philox4x32-10 of a 128-bit counter under a 64-bit key.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
  std::uint32_t words[4] = {counter[0], counter[1], counter[2], counter[3]};
  std::uint32_t keys[2] = {key[0], key[1]};
  philox_rounds(words, keys);
  return {words[0], words[1], words[2], words[3]};
}

/// Uniform number in [0, 1): the top 53 bits of two words, the more significant first.
[[nodiscard]] DRAFTSCOPE_HOST_DEVICE constexpr double unit_interval(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(((std::uint64_t{high} << 32U) | low) >> 11U) * 0x1p-53;
}

/// Step between the states of SplitMix64.
inline constexpr std::uint64_t splitmix_step = 0x9E3779B97F4A7C15U;

/// Output function of SplitMix64, a bijection.
[[nodiscard]] constexpr std::uint64_t splitmix(std::uint64_t state) {
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31U);
}

/// A sequence that depends only on (seed, stream): SplitMix64, started at a mixed value for each stream.
class CounterRandom {
 public:
  constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream)
      : state_(splitmix(splitmix(seed) + stream)) {}

  constexpr std::uint64_t next() { return splitmix(state_ += splitmix_step); }

  /// Random index in [0, count), by the upper bits: the bias is below count / 2^32.
  constexpr std::size_t index(std::size_t count) { return ((next() >> 32U) * count) >> 32U; }

  /// Uniform number in (0, 1).
  constexpr double uniform() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace draftscope
