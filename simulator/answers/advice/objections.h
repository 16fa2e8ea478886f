// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Objections to speculation, as a table. The first one that applies decides the verdict of an advice.

#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/traces/reader.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/explain/slow_baseline.h"

namespace draftscope::simulator {

/// Facts that objections are judged by: an advice without its verdict, and what the recording says.
struct AdviceGrounds {
  const Advice& advice;
  std::string recorded_model;
  std::string asked_model;
  /// Why vanilla decoding of the recording is no fair baseline, for costs that were learnt from it; empty if
  /// it is one.
  std::string slow_baseline;
  /// The fastest recorded run that is no candidate, if it is faster than vanilla decoding on the asked
  /// machine.
  std::optional<MeasuredSetting> not_considered;
};

struct ObjectionRow {
  std::string_view key;
  Verdict verdict = Verdict::do_not_speculate;
  std::string (*reason)(const AdviceGrounds&) = nullptr;  ///< One line; empty if it does not apply.
};

/// In the order in which they are asked.
[[nodiscard]] std::span<const ObjectionRow> objection_table();

/// One line that says by which of the recording's passes its vanilla steps are slow; empty if they are not,
/// or if this speedup would stay above 1 with vanilla steps of the faster pass's time.
[[nodiscard]] std::string slow_baseline_reason(const TargetPasses& passes, double speedup);

/// Sets the verdict, its reason and the advised strategy.
void judge(Advice& advice, const AdviceGrounds& grounds);

// Doubts about an advice's figures, and recordings that would reduce them.

/// The setting's speedup with every near tie flipped one way and the other, at the mean prices. Absent where
/// the strategy's rounds are not replayed. Errors: those of the replay.
[[nodiscard]] Result<std::optional<NearTieEffect>> near_tie_effect(const WhatIf& what_if,
                                                                   const traces::Recording& recording,
                                                                   const std::string& strategy,
                                                                   const Machine& machine,
                                                                   std::int32_t longer_context);

/// Suggestions with the largest share of the variance first; then those that no variance shows.
[[nodiscard]] std::vector<std::string> what_to_record(const Advice& advice, const Machine& machine,
                                                      const CostModel& model,
                                                      const traces::Recording& recording);

}  // namespace draftscope::simulator
