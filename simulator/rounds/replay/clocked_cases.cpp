// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/clocked_cases.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

namespace draftscope::simulator {

namespace {

constexpr std::uint64_t seed_of_replays = 20261201;

double time_per_token(std::span<const RoundStatistics> requests, const Prices& prices) {
  double ns = 0.0;
  double tokens = 0.0;
  for (const RoundStatistics& request : requests) {
    ns += time_ns(request, prices);
    tokens += static_cast<double>(request.tokens);
  }
  return tokens > 0.0 ? ns / tokens : 0.0;
}

}  // namespace

Result<std::vector<RoundStatistics>> farthest_case(const PriceMap& prices, std::span<const double> noise,
                                                   std::span<const RoundStatistics> first,
                                                   const ClockedReplay& replay) {
  const Prices mean = prices.mean();
  const double first_ns = time_per_token(first, mean);
  std::vector<RoundStatistics> farthest;
  double distance = 0.0;
  for (std::size_t i = 0; i < clocked_replays; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(std::vector<RoundStatistics> requests,
                          replay(prices.draw(seed_of_replays, i), NoisyClock(noise, i)));
    const double found = std::abs(std::log(time_per_token(requests, mean) / first_ns));
    if (!(found > distance)) continue;
    distance = found;
    farthest = std::move(requests);
  }
  return farthest;
}

std::string clocked_note(std::span<const double> noise) {
  return fmt::format("the second case is the one of {} replays with drawn prices{} whose speed differs most",
                     clocked_replays,
                     noise.empty() ? "" : ", whose clock has the noise of recorded vanilla rounds,");
}

}  // namespace draftscope::simulator
