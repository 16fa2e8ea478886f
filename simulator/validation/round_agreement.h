// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Are predicted rounds the recorded ones? Compared request by request, by their counts.

#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/simulator/validation/checked_answer.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// `prompts` names the text of each request of `predicted`, in its order; other texts of `measured` are left
/// out. What was modelled is not compared.
[[nodiscard]] RoundAgreement compare_rounds(const StrategyRounds& predicted,
                                            std::span<const traces::Prompt* const> prompts,
                                            const RunRows& measured);

/// The prompts that `what_if` has the rounds of `strategy` on, in their order: what compare_rounds() takes.
/// `recording` is what it learnt from.
[[nodiscard]] std::vector<const traces::Prompt*> prompts_of_rounds(const WhatIf& what_if,
                                                                   const traces::Recording& recording,
                                                                   const StrategyRounds& rounds);

}  // namespace draftscope::simulator
