// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/priced_guard.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "rounds/replay/replay.h"

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

PricedGuard::PricedGuard(double min_speed, Prices prices, NoisyClock clock)
    : prices_{.prices = std::move(prices)}, clock_(clock), guard_(min_speed) {}

void PricedGuard::begin_request() {
  guard_.begin_request();
  round_ns_ = -1;
}

bool PricedGuard::takes_strategy() {
  if (round_ns_ >= 0) guard_.end_round(kind_, round_ns_, emitted_);
  kind_ = guard_.next();
  ++rounds_;
  vanilla_rounds_ += kind_ == speculation::SpeedGuard::Round::strategy ? 0 : 1;
  return kind_ == speculation::SpeedGuard::Round::strategy;
}

void PricedGuard::end_round(std::int32_t root_position, std::int32_t draft, std::int32_t draft_steps,
                            std::int32_t drafted, std::int32_t emitted, std::int32_t planned_rows) {
  KnownRound round;
  round.round.root_position = root_position;
  round.round.verify_rows = drafted + 1;
  round.draft = drafted > 0 ? draft : 0;
  round.draft_steps = drafted > 0 ? draft_steps : 0;
  if (round.draft > 0) {
    const auto widths =
        static_cast<std::int32_t>(prices_.prices.drafts[static_cast<std::size_t>(draft)].verify.size());
    round.round.verify_rows = std::min(round.round.verify_rows, widths - 1);
    round.planned_rows = planned_rows;
  }
  const RoundTimes times = round_times(round, prices_);
  round_ns_ =
      std::llround(clock_.next() * (times.control_ns + times.draft_ns + times.verify_ns + times.accept_ns));
  emitted_ = emitted;
}

void GuardedPolicy::begin_request(const ShadowTable& table) {
  inner_->begin_request(table);
  guard_.begin_request();
}

void GuardedPolicy::plan(const RoundState& state, PlannedRound& plan) {
  is_inners_ = guard_.takes_strategy();
  plan = {};
  if (is_inners_) inner_->plan(state, plan);
}

void GuardedPolicy::observe(const ObservedRound& round) {
  guard_.end_round(round.state.root_position, round.plan.exit, round.outcome.steps(), round.outcome.drafted,
                   emitted_tokens(*round.state.table, round.state.root_position, round.outcome.accepted),
                   round.outcome.siblings == 0 ? round.planned_rows : 0);
  if (is_inners_) inner_->observe(round);
}

std::int32_t widest_verification(std::span<const RoundStatistics> requests) {
  std::size_t rows = 2;
  for (const RoundStatistics& request : requests)
    for (const DraftStatistics& draft : request.drafts) rows = std::max(rows, draft.verify.size());
  return static_cast<std::int32_t>(rows);
}

Result<std::vector<RoundStatistics>> farthest_case(const PriceMap& prices, const MeanPrices& mean,
                                                   std::span<const double> noise,
                                                   std::span<const RoundStatistics> first,
                                                   const ClockedReplay& replay) {
  std::vector<std::vector<RoundStatistics>> replays;
  std::int32_t widths = widest_verification(first);
  for (std::size_t i = 0; i < clocked_replays; ++i) {
    DRAFTSCOPE_TRY_ASSIGN(std::vector<RoundStatistics> requests,
                          replay(prices.draw(seed_of_replays, i), NoisyClock(noise, i)));
    widths = std::max(widths, widest_verification(requests));
    replays.push_back(std::move(requests));
  }
  DRAFTSCOPE_TRY_ASSIGN(const Prices covering, mean(widths));
  const double first_ns = time_per_token(first, covering);
  std::vector<RoundStatistics> farthest;
  double distance = 0.0;
  for (std::vector<RoundStatistics>& requests : replays) {
    const double found = std::abs(std::log(time_per_token(requests, covering) / first_ns));
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
