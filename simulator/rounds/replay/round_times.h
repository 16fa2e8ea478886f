// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of one known round at given prices. Summed over the rounds it is what time_ns() (prices.h) says of
// their statistics.

#include <draftscope/simulator/prices/prices.h>
#include <span>

#include "rounds/replay/known_round.h"

namespace draftscope::simulator {

/// In the order in which they follow one another within the round.
struct RoundTimes {
  double control_ns = 0.0;
  double draft_ns = 0.0;
  double verify_ns = 0.0;
  double accept_ns = 0.0;
  double optimise_ns = 0.0;
};

struct RoundPrices {
  Prices prices;
  double optimise_ns = 0.0;         ///< auxiliary passes and host beside them, of each round of a request
  double accept_share = 1.0;        ///< of what prices.round_ns and step_round_ns cover
  double own_ratio = 1.0;           ///< what all times are multiplied with (own_time_ratio(), answer.h)
  std::int32_t longer_context = 0;  ///< K/V rows before every pass beside those of the round's position
};

/// Expects that the prices cover the round's draft and width.
[[nodiscard]] RoundTimes round_times(const KnownRound& round, const RoundPrices& prices);

/// accept / (accept + control) of the recorded rounds; 1 if neither took time.
[[nodiscard]] double recorded_accept_share(std::span<const traces::Round> rounds);

}  // namespace draftscope::simulator
