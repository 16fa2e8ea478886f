// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Replay of another policy on a recorded text: its rounds, one by one, read from the shadow table
// (shadow_table.h explains why that is exact). Nothing is sampled.
//
// Certainty:
// - Accepted and emitted tokens, and so the starts of rounds, are exact.
// - Draft tokens after the first wrong one continue another text than the table's. Their number is known
//   without a threshold. With one, a confident wrong token is followed by at least one token and at most the
//   whole length: the round is *bounded*.
// - A tree also accepts the text's token if that is a sibling: its rank is below the step's width. Siblings
//   are leaves, so they end the accepted path. Widths after a wrong token are uncertain, too.
// - Where the text ended at an end token, whether the draft proposed that token is known only if it was
//   recorded (ShadowTable::end_cells); otherwise a last round that drafted up to there is bounded.
// - Once a policy decides by something uncertain, its rounds are *approximate* (Policy::is_certain). So are
//   those after a confidence within the file's rounding (millionths) of the threshold.
// - A draft after its first wrong token might propose an end token, which ends it. Replays assume that it
//   does not, which holds in most rounds but not in all (`may_end_early` marks them).

#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rounds/replay/policy.h"
#include "rounds/replay/policy_choice.h"

namespace draftscope::simulator {

/// Limits that end drafts and requests in addition to the policy.
struct ReplayConditions {
  std::int32_t max_new_tokens = 0;       ///< Token budget of the request.
  std::int32_t context_rows = 0;         ///< Rows of the K/V cache.
  std::int32_t verify_rows = 1024;       ///< Maximum rows of a verification.
  std::vector<std::int32_t> end_tokens;  ///< Tokens that end the text.
};

/// Reads the conditions from the recording's meta. Errors: max_tokens, cache_rows or model_shape is missing
/// or not a valid number.
[[nodiscard]] Result<ReplayConditions> replay_conditions(const traces::Recording& recording);

struct ReplayedRound {
  std::int32_t root_position = 0;  ///< Context of the round's verification.
  PlannedRound plan;
  /// Outcomes with the fewest and with the most draft tokens. Verification takes one row more than drafted.
  DraftOutcome least, most;
  std::int32_t planned_rows = 1;  ///< Rows of the longest draft that the plan allows, and one.
  std::int32_t emitted = 0;       ///< Tokens that reach the output.
  bool may_end_early = false;     ///< The draft went on after a wrong token, and end tokens end it.
  AnswerStatus status = AnswerStatus::exact;
};

/// The table must have the policy's exits, below its n_layers. Where several outcomes are possible, the
/// policy observes the one with the fewest draft tokens. O(text), and the policy's work.
[[nodiscard]] std::vector<ReplayedRound> replay_rounds(const ShadowTable& table, Policy& policy,
                                                       const ReplayConditions& conditions);

/// Totals of rounds for prices. Both are equal if every round is exact. With approximate rounds they are two
/// cases, not bounds.
struct ReplayTotals {
  AnswerStatus status = AnswerStatus::exact;  ///< The worst status of the rounds.
  std::int64_t bounded_rounds = 0;
  std::int64_t approximate_rounds = 0;
  RoundStatistics least;  ///< Fewest draft tokens.
  RoundStatistics most;
};

[[nodiscard]] ReplayTotals totals(std::span<const ReplayedRound> rounds);

/// Target steps of each text by vanilla decoding.
[[nodiscard]] std::vector<PassCount> vanilla_steps(std::span<const ShadowTable> tables,
                                                   const ReplayConditions& conditions);

/// Calls replay_rounds() and totals() per request. The policy carries its learned state from one request to
/// the next.
[[nodiscard]] std::vector<ReplayTotals> replay(std::span<const ShadowTable> tables, Policy& policy,
                                               const ReplayConditions& conditions);

/// Adds one round's passes to statistics: `drafted` steps of `exit` from `root_position` on, and their
/// verification, which was planned for `planned_rows` and may have `extra_rows` besides root and draft;
/// without any, a target step.
void add_round(RoundStatistics& statistics, std::int32_t exit, std::int32_t root_position,
               const DraftOutcome& outcome, std::int32_t emitted, std::int32_t planned_rows = 0,
               std::int32_t extra_rows = 0);

// Checks that a replay of the recorded policy gives the recorded rounds. If not, no other replay of this
// recording can be trusted.

/// Plans every round from the recorded rounds before it and compares exit, planned length, threshold,
/// drafted, accepted and emitted tokens. `tables` must come from shadow_tables(), for any requests; those of
/// the run are looked up. Each repeat restarts the policy, as recording does. Errors: the run's parameters or
/// the recording's meta are not readable.
[[nodiscard]] Result<ReplayCheck> replays_recorded(const RunRows& run, std::span<const ShadowTable> tables,
                                                   const traces::Recording& recording);

// One round of a prefix exit, a chain or a tree, read from a shadow table.

/// Tolerance of confidences: half a millionth is lost where a confidence is written to a file, and as much
/// where a threshold is computed from such confidences.
inline constexpr double confidence_rounding = 1e-6;

struct DraftWalk {
  DraftOutcome least, most;
  bool may_end_early = false;
  bool is_near_threshold = false;  ///< Another rounding of a confidence would give another accepted length.
};

/// Whether a request has another round from here. A request that ended at an end token may have a last round
/// that only finds this token.
[[nodiscard]] inline bool has_round(const ShadowTable& table, std::int32_t root_position) {
  return root_position + (table.ended_at_eos ? 0 : 1) < table.end();
}

[[nodiscard]] RoundState state_at(const ShadowTable& table, const ReplayConditions& conditions,
                                  std::int32_t root_position);

/// γ after the cut at budget, context and width; 0 if nothing is drafted.
[[nodiscard]] std::int32_t longest_draft(const RoundState& state, const PlannedRound& plan,
                                         const ReplayConditions& conditions);

[[nodiscard]] DraftWalk walk_draft(const RoundState& state, const PlannedRound& plan,
                                   const ReplayConditions& conditions);

/// Tokens that reach the output of a round that accepted `accepted` of its draft.
[[nodiscard]] inline std::int32_t emitted_tokens(const ShadowTable& table, std::int32_t root_position,
                                                 std::int32_t accepted) {
  return std::min(accepted + 1, table.end() - root_position - 1);
}

}  // namespace draftscope::simulator
