// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/policies.h"

#include <algorithm>

namespace draftscope::simulator {

namespace {

speculation::RoundCounts counts_of(const ObservedRound& round, const DraftOutcome& outcome) {
  return {.planned = round.plan.length, .drafted = outcome.drafted, .accepted = outcome.accepted};
}

/// The length after a round that ended so.
std::int32_t length_after(speculation::LengthRule rule, const speculation::RoundCounts& counts) {
  return rule.next(counts);
}

}  // namespace

void LengthPolicy::begin_request(const ShadowTable& /*table*/) {
  rule_.begin_request();
  if (rule_.starts_again()) is_certain_ = true;
}

void LengthPolicy::observe(const ObservedRound& round) {
  is_certain_ = is_certain_ && length_after(rule_, counts_of(round, round.least)) ==
                                   length_after(rule_, counts_of(round, round.most));
  rule_.next(counts_of(round, round.outcome));
}

void ThresholdPolicy::begin_request(const ShadowTable& /*table*/) {
  rule_.begin_request();
  const speculation::AdaptiveThreshold* adaptive = rule_.adaptive();
  if (adaptive != nullptr && adaptive->starts_again()) is_certain_ = true;
}

void ThresholdPolicy::observe(const ObservedRound& round) {
  if (rule_.adaptive() == nullptr) return;
  is_certain_ = is_certain_ && round.least == round.most;
  rule_.next(counts_of(round, round.outcome));
}

void MixedPolicy::begin_request(const ShadowTable& table) {
  for (const auto& part : parts_) part->begin_request(table);
}

void MixedPolicy::plan(const RoundState& state, PlannedRound& plan) {
  for (const auto& part : parts_) part->plan(state, plan);
  if (plan.exit == 0) plan = {};
}

void MixedPolicy::observe(const ObservedRound& round) {
  for (const auto& part : parts_) part->observe(round);
}

bool MixedPolicy::is_certain() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->is_certain(); });
}

}  // namespace draftscope::simulator
