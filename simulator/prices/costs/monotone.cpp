// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/costs/monotone.h"

#include <cstddef>
#include <vector>

namespace draftscope::simulator {

namespace {

/// Neighbours that share one value.
struct Pool {
  double mean = 0.0;
  double variance = 0.0;
  std::size_t count = 0;
};

bool decreases_by_chance(const Pool& before, const Pool& after) {
  constexpr double proof = 3.0;  // standard deviations
  const double decrease = before.mean - after.mean;
  return decrease > 0.0 && decrease * decrease < proof * proof * (before.variance + after.variance);
}

Pool joined(const Pool& a, const Pool& b) {
  const double sum = a.variance + b.variance;
  return {(b.variance * a.mean + a.variance * b.mean) / sum, a.variance * b.variance / sum,
          a.count + b.count};
}

}  // namespace

void pool_decreases(std::span<double> values, std::span<const double> deviations) {
  std::vector<Pool> pools;
  pools.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Pool last{values[i], deviations[i] * deviations[i], 1};
    while (!pools.empty() && decreases_by_chance(pools.back(), last)) {
      last = joined(pools.back(), last);
      pools.pop_back();
    }
    pools.push_back(last);
  }
  std::size_t i = 0;
  for (const Pool& pool : pools)
    for (std::size_t k = 0; k < pool.count; ++k) values[i++] = pool.mean;
}

}  // namespace draftscope::simulator
