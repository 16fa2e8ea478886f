// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Are predicted rounds the recorded ones? Compared request by request, by their counts.

#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <cstdint>
#include <span>
#include <string>

namespace draftscope::simulator {

enum class RoundMatch : std::uint8_t {
  not_compared,  ///< other texts, or a model of acceptance instead of rounds
  exact,         ///< rounds, draft tokens, accepted and emitted tokens of every request
  bounded,       ///< the same, but that draft tokens are only known to lie between the predicted bounds
  differs,
};
/// "not compared", "exact", "bounded", "differs".
[[nodiscard]] std::string_view round_match_name(RoundMatch match);

struct RoundAgreement {
  RoundMatch match = RoundMatch::not_compared;
  std::string first_difference;  ///< "question 82 turn 0 repeat 1: 31 rounds, predicted 30"
  std::int64_t requests = 0;     ///< compared
};

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
