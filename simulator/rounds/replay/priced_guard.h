// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Applies `guard=` (strategies/guard/rule.h) to replayed rounds with times from prices and a clock's noise.
// As in the engine, it observes a round when the next one is planned.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "prices/passes/cost_prices.h"
#include "rounds/replay/known_round.h"
#include "rounds/replay/policy.h"
#include "strategies/guard/rule.h"

namespace draftscope::simulator {

class PricedGuard {
 public:
  PricedGuard(double min_speed, Prices prices, NoisyClock clock);

  void begin_request();
  /// Whether the next round uses the strategy; otherwise it is a vanilla one.
  [[nodiscard]] bool takes_strategy();
  /// Observes the round: `draft` is an index into the prices' drafts, 0 = a target step. Its verification was
  /// planned for `planned_rows`; 0 = those that it has. A round with more rows than prices cover has the
  /// price of the maximum.
  void end_round(std::int32_t root_position, std::int32_t draft, std::int32_t draft_steps,
                 std::int32_t drafted, std::int32_t emitted, std::int32_t planned_rows);

  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  [[nodiscard]] std::int64_t vanilla_rounds() const { return vanilla_rounds_; }

 private:
  RoundPrices prices_;
  NoisyClock clock_;
  speculation::SpeedGuard guard_;
  speculation::SpeedGuard::Round kind_ = speculation::SpeedGuard::Round::strategy;
  std::int64_t round_ns_ = -1;  // Time of the previous round; -1 if the request has had none.
  std::int32_t emitted_ = 0;    // Tokens emitted by the previous round.
  std::int64_t rounds_ = 0;
  std::int64_t vanilla_rounds_ = 0;
};

/// A policy with a guard. Its plans are never certain, because they depend on times.
class GuardedPolicy final : public Policy {
 public:
  GuardedPolicy(std::unique_ptr<Policy> inner, PricedGuard guard)
      : inner_(std::move(inner)), guard_(std::move(guard)) {}
  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& state, PlannedRound& plan) override;
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return false; }
  [[nodiscard]] const PricedGuard& guard() const { return guard_; }

 private:
  std::unique_ptr<Policy> inner_;
  PricedGuard guard_;
  bool is_inners_ = true;
};

// The two cases of a strategy that decides by times, whose rounds follow its prices and its clock. The first
// is decided by the mean prices, without noise. Then it is replayed with drawn prices and clocks.

/// Number of replays with drawn prices. With a probability of 20 / 21 a further one is no farther from the
/// first case, to either side, than the farthest of them.
inline constexpr std::size_t clocked_replays = 20;

/// [request]: rounds as the strategy decides them by these prices on this clock
using ClockedReplay = std::function<Result<std::vector<RoundStatistics>>(const Prices&, NoisyClock)>;

/// Rows of the widest verification, at least 2.
[[nodiscard]] std::int32_t widest_verification(std::span<const RoundStatistics> requests);

/// Mean prices of verifications of up to so many rows.
using MeanPrices = std::function<Result<Prices>(std::int32_t widths)>;

/// The replay whose time for a token differs most from that of `first`, both at the mean prices; empty if all
/// replays take the same time. A round may be wider than all that `prices` cover. `noise` is
/// recorded_noise(). Errors: those of `replay` and `mean`.
[[nodiscard]] Result<std::vector<RoundStatistics>> farthest_case(const PriceMap& prices,
                                                                 const MeanPrices& mean,
                                                                 std::span<const double> noise,
                                                                 std::span<const RoundStatistics> first,
                                                                 const ClockedReplay& replay);

/// Note on the second case.
[[nodiscard]] std::string clocked_note(std::span<const double> noise);

}  // namespace draftscope::simulator
