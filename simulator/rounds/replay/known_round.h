// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/counter_random.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/traces/records.h>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// A round that is known completely, because it was recorded or replayed.
struct KnownRound {
  /// Positions, counts, exit, threshold and tokens. Ids are the recording's or 0; a replayed round has no
  /// times and no layer set.
  traces::Round round;
  /// Draft tokens. In a replay those after the first wrong one are unknown: token -1, confidence NaN.
  std::vector<traces::DraftToken> draft_tokens;
  std::int32_t draft = 0;         ///< Index into Prices::drafts; 0 = a target step.
  std::int32_t draft_steps = 0;   ///< Passes of the draft.
  std::int32_t planned_rows = 0;  ///< Rows that the verification was planned for; 0 = those that it had.
};

/// The text's token after those that the round accepted; -1 where the recording does not have it.
[[nodiscard]] std::int32_t bonus_token(const ShadowTable& table, const traces::Round& round);

/// A replayed round as a row, with the fewest draft tokens where it is bounded. `round` must belong to
/// `table`.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                                     const ReplayedRound& round, std::int32_t index);

// Time of one known round at given prices. Its sum over the rounds equals time_ns() (prices.h) of their
// statistics. A strategy that decides by clocks also sees their noise.

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
  double optimise_ns = 0.0;   ///< Auxiliary passes and their host time, for each round of a request.
  double beside_ns = 0.0;     ///< Drafting of another model, for each round of a request that drafts.
  double accept_share = 1.0;  ///< Share of the time that prices.round_ns and step_round_ns cover.
  OwnRatios own;              ///< Factors of all times but optimise_ns and beside_ns, which have theirs.
  std::int32_t longer_context = 0;  ///< K/V rows before every pass in addition to the round's position.
};

/// The prices must cover the round's draft and width.
[[nodiscard]] RoundTimes round_times(const KnownRound& round, const RoundPrices& prices);

/// Time of each recorded vanilla round / their median; empty without any, and on another machine than the
/// recorded one. A null machine means the recorded one.
[[nodiscard]] std::vector<double> recorded_noise(std::span<const RunRows> runs, const Machine* machine);

/// A clock that strategies read: predicted times, each multiplied by a factor of recorded noise, or as they
/// are without any. Factors are recorded ones in their order, from a random place on and for 16 rounds on
/// average, since slow rounds follow each other (Politis and Romano 1994, the stationary bootstrap).
class NoisyClock {
 public:
  /// `noise` is shared and must outlive the clock. Clocks of different streams are independent.
  explicit NoisyClock(std::span<const double> noise, std::uint64_t stream = 0)
      : noise_(noise), random_(seed, stream) {}
  /// Factor of the next round's times.
  [[nodiscard]] double next() {
    if (noise_.empty()) return 1.0;
    const bool goes_on = place_ + 1 < noise_.size() && random_.index(mean_stretch) > 0;
    place_ = goes_on ? place_ + 1 : random_.index(noise_.size());
    return noise_[place_];
  }

 private:
  static constexpr std::uint64_t seed = 20261129;
  static constexpr std::uint64_t mean_stretch = 16;
  std::span<const double> noise_;
  CounterRandom random_;
  std::size_t place_ = std::numeric_limits<std::size_t>::max() - 1;
};

/// accept / (accept + control) of the recorded rounds; 1 if neither took time.
[[nodiscard]] double recorded_accept_share(std::span<const traces::Round> rounds);

}  // namespace draftscope::simulator
