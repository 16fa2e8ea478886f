// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The prices behind answers (what_if.h), for what is asked beside a speedup: which correction costs what
// (answer_ladder.h), what a clairvoyant could gain (recording_waterfall.h), what to set (advice.h). Modelled:
// as good as the cost model. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/closed_forms/prices.h>
#include <draftscope/simulator/costs/cost_model.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <cstdint>

namespace draftscope::simulator {

/// What is priced for these rounds: the machine's scenario with their drafts, widths and contexts.
[[nodiscard]] Scenario answer_scenario(const StrategyRounds& rounds, const Machine& machine);

/// What WhatIf::ask() multiplies these rounds with, at the means of the parameters: their sum of vanilla
/// times / sum of times is the answer's speedup. Expects rounds of the machine's shape (for_shape). Errors: a
/// scenario that contradicts itself.
[[nodiscard]] Result<Prices> answer_prices(const CostModel& model, const StrategyRounds& rounds,
                                           const Machine& machine);

/// What the strategy's own time is multiplied with beside prices: StrategyRounds::own_ratio where the
/// question is about the recording's own circumstances, else 1. Errors as above.
[[nodiscard]] Result<double> own_time_ratio(const CostModel& model, const StrategyRounds& rounds,
                                            const Machine& machine);

/// Of every exit layer E of the recorded model, as Prices::drafts[E], and verifications of up to `widths`
/// rows. On a model of another depth an exit stands for the same share of it. Rounds whose passes have
/// `longer_context` rows more before them than recorded ones count those themselves (lengthen_context()).
/// Errors as above.
[[nodiscard]] Result<Prices> early_exit_prices(const CostModel& model, const Machine& machine,
                                               VerifiedLayers verified_layers, std::int32_t widths,
                                               std::int32_t longer_context = 0);

/// As if `rows` more K/V rows stood before every pass. O(prices).
[[nodiscard]] Prices at_longer_context(Prices prices, std::int32_t rows);

/// Rows of the widest verification, at least 2.
[[nodiscard]] std::int32_t widest_verification(const SweepSetting& setting);

}  // namespace draftscope::simulator
