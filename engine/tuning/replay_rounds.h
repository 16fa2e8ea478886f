// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds that a strategy would have had over a text that is known, with what its draft predicts after
// every output token. A draft of one step is exact. Approximate beyond: a draft's later steps see K/V of
// earlier ones that the draft wrote, here they see what the target wrote; and after a wrong draft token its
// later steps count with what the draft predicts along the text.

#include <draftscope/base/result.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tuning/pass_costs.h>
#include <draftscope/engine/tuning/score_setting.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <span>
#include <string>

#include "tuning/known_texts.h"

namespace draftscope::engine {

/// Sums over rounds.
struct RoundSums {
  double rounds = 0.0;
  double drafted = 0.0;
  double accepted = 0.0;
  double emitted = 0.0;
  double steps = 0.0;  ///< vanilla steps that drafts and verifications cost
};

struct KnownRounds {
  const ScoringSetup& setup;
  const KnownText& text;
  std::span<const std::int32_t> next;     ///< after each of the text's output tokens
  std::span<const TopToken> predictions;  ///< the draft's, likewise
  const DraftSubmodel& draft;             ///< draft whose rounds they are
  const PassCosts& costs;
};

/// Adds the text's rounds to `sums`. Fails on a plan that is no chain under `mask`, with `setting` in the
/// line.
[[nodiscard]] Result<void> replay_rounds(const KnownRounds& known, const std::string& setting,
                                         Strategy& strategy, RoundSums& sums);

/// Fails on a plan that predictions under one mask cannot answer, naming `setting`.
[[nodiscard]] Result<void> check_replayable(const RoundPlan& plan, const std::string& setting);

}  // namespace draftscope::engine
