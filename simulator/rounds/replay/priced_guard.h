// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `guard=` (strategies/guard/rule.h) over replayed rounds, with the times that prices give
// them: it hears of each round as the engine tells it, when the next one is planned.

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
  PricedGuard(double min_speed, Prices prices);

  void begin_request();
  /// Whether the next round is the strategy's; else it is a vanilla one.
  [[nodiscard]] bool takes_strategy();
  /// Hears of the round: `draft` is an index into the prices' drafts, 0 = a target step. Of more rows than
  /// prices cover it takes what the most rows take.
  void end_round(std::int32_t root_position, std::int32_t draft, std::int32_t draft_steps,
                 std::int32_t drafted, std::int32_t emitted);

  [[nodiscard]] std::int64_t rounds() const { return rounds_; }
  [[nodiscard]] std::int64_t vanilla_rounds() const { return vanilla_rounds_; }

 private:
  RoundPrices prices_;
  speculation::SpeedGuard guard_;
  speculation::SpeedGuard::Round kind_ = speculation::SpeedGuard::Round::strategy;
  std::int64_t round_ns_ = -1;  // of the round before; -1 = the request has had none
  std::int32_t emitted_ = 0;    // by it
  std::int64_t rounds_ = 0;
  std::int64_t vanilla_rounds_ = 0;
};

/// A policy with a guard. What it plans is never certain: times decide.
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
