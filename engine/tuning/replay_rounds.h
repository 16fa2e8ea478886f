// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds that a strategy would have had over a known text, given its draft's predictions after every
// output token. A draft of one step is exact; longer ones are approximate. Later steps of a real draft see
// K/V that the draft wrote, but here K/V that the target wrote. After a wrong draft token, later steps use
// the predictions along the text.

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
  std::span<const std::int32_t> next;     ///< token after each of the text's output tokens
  std::span<const TopToken> predictions;  ///< the draft's prediction after each of them
  const DraftSubmodel& draft;
  const PassCosts& costs;
};

/// Adds the text's rounds to `sums`. Fails on a plan that is not a chain under `mask`; the error names
/// `setting`.
[[nodiscard]] Result<void> replay_rounds(const KnownRounds& known, const std::string& setting,
                                         Strategy& strategy, RoundSums& sums);

/// Fails on a plan that predictions under one mask cannot answer; the error names `setting`.
[[nodiscard]] Result<void> check_replayable(const RoundPlan& plan, const std::string& setting);

}  // namespace draftscope::engine
