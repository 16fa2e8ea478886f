// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt of each of a strategy's requests. Replayed rounds are in the order of the recording's texts;
// recorded ones and those derived from a run's drafts are in the order of their run. A comparison of
// strategies per request needs one order.

#include <draftscope/simulator/answers/what_if.h>
#include <span>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// Prompts of the tables, in their order.
[[nodiscard]] std::vector<traces::PromptId> table_prompts(std::span<const ShadowTable> tables,
                                                          const traces::Recording& recording);

/// Prompt of each request of the rounds; empty if the recording does not tell it.
[[nodiscard]] std::vector<traces::PromptId> prompts_of(const StrategyRounds& rounds, const WhatIf& what_if,
                                                       const traces::Recording& recording);

/// The rounds with one request per prompt of `prompts`, in that order. Errors: a prompt that the rounds lack,
/// or on which they emit another number of tokens than `vanilla`.
[[nodiscard]] Result<StrategyRounds> in_order_of(std::span<const traces::PromptId> prompts,
                                                 std::span<const RoundStatistics> vanilla,
                                                 StrategyRounds rounds);

/// Vanilla decoding of the recording's texts, per request. Errors: those of replay_conditions().
[[nodiscard]] Result<std::vector<RoundStatistics>> vanilla_rounds(const WhatIf& what_if,
                                                                  const traces::Recording& recording);

/// Errors: no texts, or texts that would differ under another policy; both say what to record.
[[nodiscard]] Result<void> check_texts(const WhatIf& what_if, const traces::Recording& recording);
/// Checks for shadow tokens. Errors: those of check_texts(), and no shadow tokens.
[[nodiscard]] Result<void> check_shadowed(const WhatIf& what_if, const traces::Recording& recording);

}  // namespace draftscope::simulator
