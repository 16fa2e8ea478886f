// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The two cases of a strategy that decides by times, whose rounds follow its prices and its clock. The first
// is decided by the mean prices, without noise. Then it is replayed with drawn prices and clocks.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "prices/passes/cost_prices.h"
#include "rounds/replay/round_times.h"

namespace draftscope::simulator {

/// Number of replays with drawn prices. With a probability of 20 / 21 a further one is no farther from the
/// first case, to either side, than the farthest of them.
inline constexpr std::size_t clocked_replays = 20;

/// [request]: rounds as the strategy decides them by these prices on this clock
using ClockedReplay = std::function<Result<std::vector<RoundStatistics>>(const Prices&, NoisyClock)>;

/// The replay whose time for a token differs most from that of `first`, both at the mean prices; empty if all
/// replays take the same time. `noise` is recorded_noise(). Errors: those of `replay`.
[[nodiscard]] Result<std::vector<RoundStatistics>> farthest_case(const PriceMap& prices,
                                                                 std::span<const double> noise,
                                                                 std::span<const RoundStatistics> first,
                                                                 const ClockedReplay& replay);

/// Note on the second case.
[[nodiscard]] std::string clocked_note(std::span<const double> noise);

}  // namespace draftscope::simulator
