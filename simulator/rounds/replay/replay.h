// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Another policy on a recorded text: the rounds it would have done, one by one, read from the shadow table
// (shadow_table.h says why that is exact). Nothing is sampled.
//
// What is certain and what not:
// - Accepted and emitted tokens, and with them where rounds start, are exact.
// - Draft tokens behind the first wrong one continue another text than the table's. How many there are is
//   known without a threshold; with one, a confident wrong token is followed by one at least and by the whole
//   length at most: the round is *bounded*.
// - Where the text ended at an end token, whether the draft proposed that token is known only if it was
//   recorded (ShadowTable::end_cells); a last round that drafted up to there is bounded otherwise.
// - Once a policy has heard of something uncertain that it decides by, its rounds are *approximate*
//   (Policy::is_certain). So are those after a confidence within the file's rounding (millionths) of the
//   threshold.
// - A draft behind its first wrong token might propose an end token, which ends it. Unless
//   ReplayConditions::may_end_off_text says so, replays take it that it does not, which holds in most rounds
//   but not in all (`may_end_early` says where it matters); otherwise such rounds are bounded too.

#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/policy.h"

namespace draftscope::simulator {

/// Limits that end drafts and requests beside the policy.
struct ReplayConditions {
  std::int32_t max_new_tokens = 0;       ///< the request's token budget
  std::int32_t context_rows = 0;         ///< rows of K/V cache
  std::int32_t verify_rows = 1024;       ///< widest verification
  std::vector<std::int32_t> end_tokens;  ///< that end the text
  bool may_end_off_text = false;         ///< bounds for drafts that end at an end token off the text
};

/// From the recording's meta. Errors: max_tokens, cache_rows or model_shape is missing or no such number.
[[nodiscard]] Result<ReplayConditions> replay_conditions(const traces::Recording& recording);

struct ReplayedRound {
  std::int32_t root_position = 0;  ///< the context of the round's verification
  PlannedRound plan;
  /// The outcomes with the fewest and with the most draft tokens. Verification takes a row more than drafted.
  DraftOutcome least, most;
  std::int32_t emitted = 0;    ///< tokens that reach the output
  bool may_end_early = false;  ///< the draft went on behind its first wrong token, and end tokens end drafts
  AnswerStatus status = AnswerStatus::exact;
};

/// The outcome that a policy hears of where several are possible.
enum class Waste : std::uint8_t { least, most };

/// Expects exits that the table has, below its n_layers. O(text), and the policy's own work.
[[nodiscard]] std::vector<ReplayedRound> replay_rounds(const ShadowTable& table, Policy& policy,
                                                       const ReplayConditions& conditions,
                                                       Waste heard = Waste::least);

/// Totals of rounds, as prices need them. Equal if every round is exact. Of approximate rounds they are two
/// cases, not bounds.
struct ReplayTotals {
  AnswerStatus status = AnswerStatus::exact;  ///< the worst of the rounds'
  std::int64_t bounded_rounds = 0;
  std::int64_t approximate_rounds = 0;
  std::int64_t may_end_early = 0;  ///< rounds
  RoundStatistics least;           ///< fewest draft tokens
  RoundStatistics most;
};

[[nodiscard]] ReplayTotals totals(std::span<const ReplayedRound> rounds);

/// Target steps of each text by vanilla decoding.
[[nodiscard]] std::vector<PassCount> vanilla_steps(std::span<const ShadowTable> tables,
                                                   const ReplayConditions& conditions);

/// replay_rounds() and totals(), request by request. What the policy learns it keeps from one to the next.
[[nodiscard]] std::vector<ReplayTotals> replay(std::span<const ShadowTable> tables, Policy& policy,
                                               const ReplayConditions& conditions,
                                               Waste heard = Waste::least);

/// One round's passes added to statistics: `drafted` steps of `exit` from `root_position` on, and the
/// verification of them all; a target step without any.
void add_round(RoundStatistics& statistics, std::int32_t exit, std::int32_t root_position,
               const DraftOutcome& outcome, std::int32_t emitted);

}  // namespace draftscope::simulator
