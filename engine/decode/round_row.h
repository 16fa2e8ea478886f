// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Builds the row of a round for a trace, with its layer set and its draft tokens.

#include <draftscope/engine/strategy.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/acceptance.h"

namespace draftscope::engine {

/// Times at which a round's phases began, in order; each phase ends where the next begins.
struct RoundTimes {
  std::int64_t plan_ns = 0;   ///< beginning of the plan and of the round
  std::int64_t draft_ns = 0;  ///< equals verify_ns without a draft
  std::int64_t verify_ns = 0;
  std::int64_t accept_ns = 0;
  std::int64_t observe_ns = 0;
  std::int64_t optimise_ns = -1;  ///< -1 = the strategy had nothing to optimise
  std::int64_t end_ns = 0;
};

/// Fills the row's start, end and durations, which add up to the round: planning and observing count as
/// control.
void set_durations(const RoundTimes& times, traces::Round& row);

/// Fills the row's counts of draft tokens and rows, and its depth.
void set_draft_size(std::span<const DraftNode> nodes, std::size_t extra_rows, traces::Round& row);

/// Fills `set` with the layers that drafted, and the row's exit layer. The set is empty if nothing was
/// drafted or no mask drafted. The plan's mask must not have changed since the draft.
void describe_layers(const RoundPlan& plan, traces::LayerSet& set, traces::Round& row);

/// Fills `tokens` with the round's draft tokens and their outcomes.
void describe_draft(std::span<const DraftNode> nodes, const Verdict& verdict, traces::RoundId round_id,
                    std::vector<traces::DraftToken>& tokens);

}  // namespace draftscope::engine
