// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of one known round at given prices. Its sum over the rounds equals time_ns() (prices.h) of their
// statistics. A strategy that decides by clocks also sees their noise.

#include <draftscope/base/counter_random.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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

/// Time of each recorded vanilla round / their median; empty without any, and on another machine than the
/// recorded one. A null machine means the recorded one.
[[nodiscard]] std::vector<double> recorded_noise(std::span<const RunRows> runs, const Machine* machine);

/// A clock that strategies read: predicted times, each multiplied by a drawn factor of recorded noise, or as
/// they are without any.
class NoisyClock {
 public:
  explicit NoisyClock(std::vector<double> noise) : noise_(std::move(noise)), random_(seed, 0) {}
  /// Factor of the next round's times.
  [[nodiscard]] double next() { return noise_.empty() ? 1.0 : noise_[random_.index(noise_.size())]; }

 private:
  static constexpr std::uint64_t seed = 20261129;
  std::vector<double> noise_;
  CounterRandom random_;
};

/// accept / (accept + control) of the recorded rounds; 1 if neither took time.
[[nodiscard]] double recorded_accept_share(std::span<const traces::Round> rounds);

}  // namespace draftscope::simulator
