// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/policies.h"

#include <algorithm>

namespace draftscope::simulator {

void FiniteStateLength::observe(const ObservedRound& round) {
  const bool all = round.outcome.accepted == length_;
  length_ = std::clamp(all ? length_ + 1 : length_ - 1, options_.least, options_.most);
}

void HeuristicLength::begin_request(const ShadowTable& /*table*/) {
  if (!is_transient_) return;
  length_ = start_;
  is_certain_ = true;
}

void HeuristicLength::observe(const ObservedRound& round) {
  constexpr std::int32_t most = 63;
  const auto accepts_all = [](const DraftOutcome& outcome) { return outcome.accepted == outcome.drafted; };
  is_certain_ = is_certain_ && accepts_all(round.least) == accepts_all(round.most);
  length_ = accepts_all(round.outcome) ? std::min(length_ + 2, most) : std::max(length_ - 1, 1);
}

void AdaptiveThreshold::begin_request(const ShadowTable& /*table*/) {
  accepted_ = drafted_ = 0;
  if (options_.rule == Rule::del) return;
  rate_ = 0.0;
  has_rate_ = false;
}

void AdaptiveThreshold::observe(const ObservedRound& round) {
  is_certain_ = is_certain_ && round.least == round.most;
  const DraftOutcome& outcome = round.outcome;
  if (outcome.drafted == 0) return;
  accepted_ += outcome.accepted;
  drafted_ += outcome.drafted;
  const double now = options_.rule == Rule::del
                         ? static_cast<double>(accepted_) / static_cast<double>(drafted_)
                         : static_cast<double>(outcome.accepted) / static_cast<double>(outcome.drafted);
  const bool is_first =
      options_.rule == Rule::del ? rate_ == 0.0 : !has_rate_ && options_.rule == Rule::paper;
  rate_ = is_first ? now : options_.beta1 * rate_ + (1.0 - options_.beta1) * now;
  has_rate_ = true;
  threshold_ = options_.beta2 * threshold_ + (1.0 - options_.beta2) * moved(round);
}

double AdaptiveThreshold::moved(const ObservedRound& round) const {
  const bool is_low = options_.rule == Rule::paper ? rate_ <= options_.target : rate_ < options_.target;
  if (is_low) return threshold_ + options_.epsilon;
  const bool is_at_cap = round.outcome.drafted == round.plan.length;
  if (options_.rule == Rule::code && is_at_cap) return threshold_;
  return threshold_ - options_.epsilon;
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
