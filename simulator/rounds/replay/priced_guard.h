// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Applies `guard=` (strategies/guard/rule.h) to replayed rounds with times from prices and a clock's noise.
// As in the engine, it observes a round when the next one is planned.

#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <memory>
#include <utility>

#include "rounds/replay/policy.h"
#include "rounds/replay/round_times.h"
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

}  // namespace draftscope::simulator
