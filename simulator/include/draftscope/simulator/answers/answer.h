// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers: the rounds of a strategy (strategy_rounds.h) on a machine (asked_machine.h), with the prices
// behind them and the correction ladder (tpt_ladder.h), which says why a speedup counted in layers is not the
// predicted one. All are as good as the cost model, which each answer's notes qualify.
//
// `trained` is the cost model of the recording (WhatIf::costs()); it prices machines that have no costs of
// their own. Pure functions, safe from any thread. Times in nanoseconds.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/sweep.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/simulator/prices/tpt_ladder.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct Answer {
  AnswerStatus status = AnswerStatus::exact;  ///< of the rounds; what costs rest on is in `notes`
  std::string strategy;
  std::string machine;
  RoundSource source = RoundSource::recorded;
  double tokens = 0.0;                ///< that rounds emitted
  double mean_accepted_length = 0.0;  ///< M; with the fewest draft tokens where that is bounded, as below
  double acceptance_rate = 0.0;
  double steps_per_round = 0.0;
  double target_step_ns = 0.0;  ///< at the mean context of the rounds, as c, v and o
  double c = 0.0;               ///< one draft step, in target steps
  double v = 0.0;               ///< one verification, in target steps
  double o = 0.0;               ///< the rest of a round, auxiliary passes included, in target steps
  double auxiliary =
      0.0;  ///< of `o`: auxiliary passes and what the host does beside them, a mean over rounds
  /// Speedup without auxiliary passes and what the host does beside them: once a search has ended.
  double speedup_without_auxiliary = 0.0;
  double vanilla_tokens_per_second = 0.0;
  double tokens_per_second = 0.0;
  PredictedSpeedup speedup;             ///< over vanilla decoding on the same machine, prefill left out
  PredictedRate rate;                   ///< tokens_per_second with intervals
  std::optional<MemoryNeed> memory;     ///< of each GPU; absent where the recording itself shows that it fits
  std::optional<double> usable_memory;  ///< bytes of a GPU; absent with `memory`, or where it is not known
  std::optional<TextSpread> other_texts;  ///< set: the question is about texts that were not recorded
  std::optional<double> price_per_hour;   ///< as the machine has it, and so the power
  std::optional<double> power_watts;
  std::optional<VarianceBudget> budget;
  std::vector<CostNote> cost_notes;
  std::vector<std::string> notes;
};

/// The answer for these rounds on this machine. With a budget it takes five times as long. Errors: a scenario
/// that contradicts itself, a GPU that lacks the number type or the memory (check_memory()), those of
/// predict_speedup(). What the recording itself shows to run is not held to the latter.
[[nodiscard]] Result<Answer> ask(const CostModel& trained, const StrategyRounds& rounds,
                                 const Machine& machine, const SweepOptions& options = {},
                                 bool with_budget = false);

/// Head and choice of a pass as the cost model has them: the head is what another vocabulary of the same size
/// would add, so that a head whose time hides behind launches costs nothing; the choice is the rest of what a
/// pass takes whatever its layers (fixed_pass_ns), the head's launch included. Never more than the shortest
/// draft step of `rounds`. Errors: a scenario that contradicts itself.
[[nodiscard]] Result<PassParts> pass_parts(const CostModel& trained, const StrategyRounds& rounds,
                                           const Machine& machine);

/// Correction ladder of all rounds together; with the fewest draft tokens where their number is bounded. The
/// last rung is the answer's speedup. Expects rounds of the machine's shape. Errors: as correction_ladder().
[[nodiscard]] Result<Ladder> answer_ladder(const CostModel& trained, const StrategyRounds& rounds,
                                           const Machine& machine);

// Questions that follow one another, as a slider asks them: what one of them drew serves the next where that
// has the same prices (another threshold moves rounds, but no price), and random numbers serve all.

/// Prices of the last question with their draws, some megabytes. For one question at a time.
class CachedPrices {
 public:
  CachedPrices();
  ~CachedPrices();
  CachedPrices(CachedPrices&&) noexcept;
  CachedPrices& operator=(CachedPrices&&) noexcept;

 private:
  struct Last;
  friend Result<Answer> ask(const std::shared_ptr<const CostModel>& trained, const StrategyRounds& rounds,
                            const Machine& machine, const SweepOptions& options, CachedPrices& cached);
  std::unique_ptr<Last> last_;
};

/// ask() without a budget, to the bit, with what `cached` has of the question before. Holds `trained` and the
/// machine's costs, by whose addresses it knows whether they are the same.
[[nodiscard]] Result<Answer> ask(const std::shared_ptr<const CostModel>& trained,
                                 const StrategyRounds& rounds, const Machine& machine,
                                 const SweepOptions& options, CachedPrices& cached);

}  // namespace draftscope::simulator
