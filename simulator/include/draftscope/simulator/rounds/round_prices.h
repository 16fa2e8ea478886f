// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prices of the passes of a strategy's rounds on a machine. `trained` is the cost model of the recording; it
// prices machines without costs of their own. Pure functions, safe from any thread. Times are in nanoseconds.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <cstdint>
#include <span>

namespace draftscope::simulator {

/// Prices that ask() multiplies these rounds with, at the means of the parameters. Their sum of vanilla times
/// / sum of times is the answer's speedup. The rounds must have the machine's shape (for_shape). Errors: a
/// scenario that contradicts itself.
[[nodiscard]] Result<Prices> answer_prices(const CostModel& trained, const StrategyRounds& rounds,
                                           const Machine& machine);

/// Parts of the time of rounds. They add up to time_ns() of the same statistics.
struct PartTimes {
  double draft_ns = 0.0;      ///< Steps of the target's layers or of another model that drafts.
  double verify_ns = 0.0;     ///< Verifications, which are target steps where a round drafts nothing.
  double rest_ns = 0.0;       ///< The rest of rounds, without auxiliary passes.
  double auxiliary_ns = 0.0;  ///< Other auxiliary passes, and the host outside rounds.
  std::int64_t steps = 0;     ///< Draft steps.

  [[nodiscard]] double all_ns() const { return draft_ns + verify_ns + rest_ns + auxiliary_ns; }
};

/// Sums over a strategy's rounds; `kinds` are the kinds of its auxiliary passes. The prices must cover them.
[[nodiscard]] PartTimes part_times(const RoundStatistics& statistics, std::span<const AuxiliaryPass> kinds,
                                   const Prices& prices);

/// Factors of a recorded run's times relative to prices.
struct OwnRatios {
  double draft = 1.0;
  double verify = 1.0;
  double rest = 1.0;  ///< Factor of auxiliary passes, too.

  [[nodiscard]] PartTimes of(PartTimes parts) const;
};

/// Splits `own_ratio` of own_time_ratio() so that of(parts).all_ns() is own_ratio · parts.all_ns(). Draft
/// steps and verifications take the run's own ratios and the rest what is left. All parts share `own_ratio`
/// where nothing is left, or where the question isn't about the recorded conditions.
[[nodiscard]] OwnRatios own_ratios(const PartTimes& parts, const StrategyRounds& rounds, double own_ratio);

/// Whether the question is about the recorded conditions and gives no draft cost, so that a recorded run's
/// own ratios apply. Errors: a scenario that contradicts itself.
[[nodiscard]] Result<bool> has_own_time(const CostModel& trained, const StrategyRounds& rounds,
                                        const Machine& machine);

/// Factor of the strategy's time relative to prices: StrategyRounds::own_ratio where
/// has_own_time(), else 1. Errors: a scenario that contradicts itself.
[[nodiscard]] Result<double> own_time_ratio(const CostModel& trained, const StrategyRounds& rounds,
                                            const Machine& machine);

/// Prices of every exit layer E of the recorded model, as Prices::drafts[E], and of verifications of up to
/// `widths` rows. On a model of another depth an exit stands for the same share of it. `longer_context` rows
/// precede the passes beyond the recorded ones; rounds count them separately (lengthen_context()). Errors: a
/// scenario that contradicts itself.
[[nodiscard]] Result<Prices> early_exit_prices(const CostModel& trained, const Machine& machine,
                                               VerifiedLayers verified_layers, std::int32_t widths,
                                               std::int32_t longer_context = 0);

}  // namespace draftscope::simulator
