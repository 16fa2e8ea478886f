// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Does a replay of the recorded policy give the recorded rounds? If not, no other replay of this recording is
// to be trusted.

#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/simulator/replay/policy_choice.h>
#include <draftscope/simulator/replay/replay.h>
#include <cstdint>
#include <span>
#include <string>

namespace draftscope::simulator {

struct ReplayCheck {
  /// `invalid`: the replay differs. Else the worst that was met: `exact` if all rounds were told in advance,
  /// `bounded` if some were within bounds, `approximate` if some plans could not be told, so that only what
  /// became of them was checked.
  AnswerStatus status = AnswerStatus::exact;
  /// The first difference, "request 12 round 3: drafted 4, replay says 5 to 8", or why there is no replay.
  std::string reason;
  std::int64_t requests = 0;  ///< compared; those without a table are left out
  std::int64_t rounds = 0;
  std::int64_t exact_rounds = 0;
  std::int64_t bounded_rounds = 0;  ///< draft tokens were within bounds
  std::int64_t untold_plans = 0;    ///< the policy was uncertain: the recorded plan was taken instead
  std::int64_t ended_off_text = 0;  ///< drafts that an end token behind the first wrong token cut short
  std::int64_t near_threshold = 0;  ///< a confidence within the file's rounding of the threshold
};

/// Plans every round from what was recorded before it, round by round, and compares exit, planned length,
/// threshold, drafted, accepted and emitted tokens. `tables` as shadow_tables() gives them, of any requests;
/// the run's own are looked up. Each repeat starts the policy anew, as recording does. Errors: the run's
/// parameters or the recording's meta are not readable.
[[nodiscard]] Result<ReplayCheck> replays_recorded(const RunRows& run, std::span<const ShadowTable> tables,
                                                   const traces::Recording& recording);

}  // namespace draftscope::simulator
