// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Threshold values of findings. FindingRow::because gives their reasons.

#include <cstdint>

namespace draftscope::simulator::thresholds {

/// Minimum number of rounds. With fewer, shares and means are random: a share of 20 rounds is known to about
/// ±0.2.
inline constexpr std::int64_t min_rounds = 20;

/// Minimum share of a round's time for a cost to be a finding; repeats on a quiet machine differ by as much.
inline constexpr double min_cost_share = 0.03;

/// Minimum share of rounds without a draft for the finding that a strategy does not draft.
inline constexpr double nothing_drafted_share = 0.9;

/// Maximum share of accepted draft tokens for the finding that a draft is unrelated to its target.
inline constexpr double nothing_accepted_rate = 0.01;

/// Acceptance below which a draft position counts as wasted where its cost is not known. No draft costs less
/// than a tenth of a step together with its row.
inline constexpr double hardly_accepted_rate = 0.1;

/// Minimum share of draft positions after that point.
inline constexpr double lost_tail_share = 0.2;

/// Minimum vanilla steps of a dear draft step: a step brings one token at most, the row of the verification
/// costs too, and few drafts are right in nine tokens of ten.
inline constexpr double dear_step = 0.9;

/// Minimum vanilla steps per round for a finding about deciding, or about time outside of passes.
inline constexpr double own_time_steps = 0.05;

/// Maximum vanilla steps per additional row of a verification.
inline constexpr double row_steps = 0.05;

/// Time of launching a pass on a device and waiting for it, without a device trace. An H200 was idle for 54
/// us of each vanilla round.
inline constexpr double device_launch_ns = 60'000.0;

/// A round counts as interrupted if it takes this multiple of its kind's median.
inline constexpr double interrupted_factor = 2.0;

/// Minimum rounds of a kind for a median.
inline constexpr std::size_t min_rounds_of_kind = 8;

/// Share of a device's time that reading weights and K/V takes in an efficient pass. Barriers between
/// operations take most of the rest.
inline constexpr double device_read_share = 0.75;

/// Maximum share of time for interruptions.
inline constexpr double interrupted_share = 0.05;

/// Maximum (max − min) / median speedup of the repeats.
inline constexpr double repeat_spread = 0.1;

/// Minimum share of rounds with an accepted guess; below it the text does not repeat.
inline constexpr double kept_guess_share = 0.25;

/// Minimum number of concurrent requests that counts as a batch.
inline constexpr double batch = 1.5;

}  // namespace draftscope::simulator::thresholds
