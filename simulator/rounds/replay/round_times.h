// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of one known round at given prices. Its sum over the rounds equals time_ns() (prices.h) of their
// statistics.

#include <draftscope/simulator/prices/prices.h>
#include <span>

#include "rounds/replay/known_round.h"

namespace draftscope::simulator {

/// Parts in order of time within the round.
struct RoundTimes {
  double control_ns = 0.0;
  double draft_ns = 0.0;
  double verify_ns = 0.0;
  double accept_ns = 0.0;
  double optimise_ns = 0.0;
};

struct RoundPrices {
  Prices prices;
  double optimise_ns = 0.0;         ///< Auxiliary passes and their host time, for each round of a request.
  double accept_share = 1.0;        ///< Share of the time that prices.round_ns and step_round_ns cover.
  double own_ratio = 1.0;           ///< Factor of all times (own_time_ratio(), answer.h).
  std::int32_t longer_context = 0;  ///< K/V rows before every pass in addition to the round's position.
};

/// The prices must cover the round's draft and width.
[[nodiscard]] RoundTimes round_times(const KnownRound& round, const RoundPrices& prices);

/// accept / (accept + control) of the recorded rounds; 1 if neither took time.
[[nodiscard]] double recorded_accept_share(std::span<const traces::Round> rounds);

}  // namespace draftscope::simulator
