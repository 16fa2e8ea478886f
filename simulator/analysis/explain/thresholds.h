// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The values that findings are judged by. FindingRow::because says why they are where they are.

#include <cstdint>

namespace draftscope::simulator::thresholds {

/// Rounds below which shares and means are luck: a share of 20 rounds is known to about ±0.2.
inline constexpr std::int64_t min_rounds = 20;

/// Share of a round's time below which a cost is no finding: repeats on a quiet machine differ as much.
inline constexpr double min_cost_share = 0.03;

/// Share of rounds without a draft from which on a strategy that drafts does not.
inline constexpr double nothing_drafted_share = 0.9;

/// Share of accepted draft tokens up to which a draft has nothing to do with its target.
inline constexpr double nothing_accepted_rate = 0.01;

/// Acceptance below which a draft position is taken to be lost where its cost is not known: no draft costs
/// less than a tenth of a step together with its row.
inline constexpr double hardly_accepted_rate = 0.1;

/// Share of the draft positions that must come after that point.
inline constexpr double lost_tail_share = 0.2;

/// Vanilla steps per round from which on deciding, or time outside of passes, is looked at.
inline constexpr double own_time_steps = 0.05;

/// Vanilla steps that a row of a verification beyond the first may cost.
inline constexpr double row_steps = 0.05;

/// Time of launching a pass on a device and of waiting for it, where no device trace says: an H200 was idle
/// for 54 us of each vanilla round.
inline constexpr double device_launch_ns = 60'000.0;

/// A round is interrupted if it takes so many times the median of its kind.
inline constexpr double interrupted_factor = 2.0;

/// Rounds of a kind that its median takes.
inline constexpr std::size_t min_rounds_of_kind = 8;

/// Share of a device's time that reading weights and K/V alone takes where a pass is as fast as it can be
/// expected to: barriers between operations take most of the rest.
inline constexpr double device_read_share = 0.75;

/// Share of the time that interruptions may take.
inline constexpr double interrupted_share = 0.05;

/// (greatest − least) / median speedup of the repeats.
inline constexpr double repeat_spread = 0.1;

/// Share of rounds that keep a guess below which text is said not to repeat.
inline constexpr double kept_guess_share = 0.25;

/// Requests at a time from which on they are a batch.
inline constexpr double batch = 1.5;

}  // namespace draftscope::simulator::thresholds
