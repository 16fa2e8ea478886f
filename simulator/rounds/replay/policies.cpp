// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/policy.h"

#include <algorithm>

namespace draftscope::simulator {

namespace {

speculation::RoundCounts counts_of(const ObservedRound& round, const DraftOutcome& outcome) {
  return {.planned = round.plan.length, .drafted = outcome.steps(), .accepted = outcome.accepted};
}

/// The length after a round with these counts.
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
  if (rule_.starts_again()) is_certain_ = true;
}

void ThresholdPolicy::observe(const ObservedRound& round) {
  if (!rule_.moves()) return;
  speculation::RoundCounts counts = counts_of(round, round.outcome);
  if (rule_.goes_by_drafted()) {
    is_certain_ = is_certain_ && round.least == round.most;
  } else {
    list_confidences(round);
    counts.confidences = confidences_;
    // Whether there is a first rejected token depends on whether the token at the end of the text was
    // drafted.
    const bool told =
        round.plan.widths.empty() && std::min(round.least.drafted, round.outcome.accepted + 1) ==
                                         std::min(round.most.drafted, round.outcome.accepted + 1);
    is_certain_ = is_certain_ && told && confidences_.size() == known_steps(round.outcome);
  }
  rule_.next(counts);
}

/// Number of accepted tokens plus the first rejected one, if one was drafted.
std::size_t ThresholdPolicy::known_steps(const DraftOutcome& outcome) {
  return static_cast<std::size_t>(std::min(outcome.steps(), outcome.accepted + 1));
}

/// Lists the confidences from the table; the token after the text may be missing.
void ThresholdPolicy::list_confidences(const ObservedRound& round) {
  confidences_.clear();
  const ShadowTable& table = *round.state.table;
  for (std::size_t i = 0; i < known_steps(round.outcome); ++i) {
    const std::int32_t position = round.state.root_position + 1 + static_cast<std::int32_t>(i);
    const auto layer = static_cast<std::size_t>(round.plan.exit - 1);
    if (position < table.end())
      confidences_.push_back(static_cast<double>(table.cell(position, round.plan.exit).probability));
    else if (position == table.end() && !table.end_cells.empty())
      confidences_.push_back(static_cast<double>(table.end_cells[layer].probability));
  }
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
