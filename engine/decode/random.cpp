// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/random.h>

#include <numeric>

namespace draftscope::engine {

double uniform(CounterKey key, Draw draw) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); };
  const std::uint32_t purpose =
      static_cast<std::uint32_t>(draw.purpose) | (static_cast<std::uint32_t>(draw.branch) << 8U);
  const auto bits =
      philox({low(key.stream), high(key.stream), static_cast<std::uint32_t>(draw.position), purpose},
             {low(key.seed), high(key.seed)});
  return unit_interval(bits[0], bits[1]);
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
  return last_possible;  // Rounding left the threshold at the very end.
}

}  // namespace draftscope::engine
