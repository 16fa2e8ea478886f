// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/random.h>

#include <numeric>

namespace draftscope::engine {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

double uniform(CounterKey key, Draw draw) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); };
  const std::uint32_t purpose =
      static_cast<std::uint32_t>(draw.purpose) | (static_cast<std::uint32_t>(draw.branch) << 8U);
  const auto bits =
      philox({low(key.stream), high(key.stream), static_cast<std::uint32_t>(draw.position), purpose},
             {low(key.seed), high(key.seed)});
  const std::uint64_t mantissa = ((std::uint64_t{bits[0]} << 32U) | bits[1]) >> 11U;
  return static_cast<double>(mantissa) * 0x1p-53;  // [0, 1)
}

std::size_t SeededChooser::choose(Draw draw, std::span<const double> weights) {
  const double threshold =
      uniform({seed_, stream_}, draw) * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0.0;
  std::size_t last_possible = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    sum += weights[i];
    last_possible = i;
    if (threshold < sum) return i;
  }
  return last_possible;  // rounding left the threshold at the very end
}

}  // namespace draftscope::engine
