// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers: the rounds of a strategy (strategy_rounds.h) on a machine (asked_machine.h), with the prices that
// they use and the correction ladder (tpt_ladder.h). The ladder explains why a speedup counted in layers
// differs from the predicted one. All are as good as the cost model, which each answer's notes qualify.
//
// `trained` is the cost model of the recording (WhatIf::costs()); it prices machines without costs of their
// own. Pure functions, safe from any thread. Times are in nanoseconds.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/prediction.h>
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
  AnswerStatus status = AnswerStatus::exact;  ///< Status of the rounds; `notes` qualify the costs.
  std::string strategy;
  std::string machine;
  RoundSource source = RoundSource::recorded;
  double tokens = 0.0;  ///< Tokens that rounds emitted.
  /// M, end-of-sequence tokens included; with the fewest draft tokens if bounded, as all below. The speedup
  /// is M / (steps_per_round · c + v + o), as in figures.h.
  double mean_accepted_length = 0.0;
  double tokens_per_round = 0.0;  ///< Emitted tokens, without those of the end of the sequence.
  double acceptance_rate = 0.0;
  double drafting_share = 0.0;  ///< Rounds that draft / rounds.
  double steps_per_round = 0.0;
  double target_step_ns = 0.0;  ///< Time of a target step at the mean context of the rounds, like c, v and o.
  double c = 0.0;               ///< One draft step, in target steps.
  double v = 0.0;               ///< One verification, a mean over all rounds, in target steps.
  double o = 0.0;               ///< The rest of a round, auxiliary passes included, in target steps.
  double auxiliary = 0.0;       ///< Part of `o`: auxiliary passes and the host's work for them.
  /// Speedup without auxiliary passes and the host's work for them, as after a search has ended.
  double speedup_without_auxiliary = 0.0;
  double vanilla_tokens_per_second = 0.0;
  double tokens_per_second = 0.0;
  PredictedRatio speedup;  ///< Speedup over vanilla decoding on the same machine, without the prefill.
  PredictedRatio rate;     ///< tokens_per_second with intervals
  std::optional<MemoryNeed> memory;     ///< Memory per GPU; absent where the recording shows that it fits.
  std::optional<double> usable_memory;  ///< Usable bytes per GPU; absent if not known, or without `memory`.
  /// Set if the question is about texts that were not recorded, or of which a file only states a rate.
  std::optional<TextSpread> text_spread;
  std::optional<double> price_per_hour;  ///< Price of the machine, if it has one; so is the power.
  std::optional<double> power_watts;
  std::optional<VarianceBudget> budget;
  std::vector<CostNote> cost_notes;
  std::vector<std::string> notes;

  [[nodiscard]] double draft_step_ns() const { return c * target_step_ns; }
  [[nodiscard]] double verify_ns() const { return v * target_step_ns; }
};

/// Says that vanilla steps are slow where the speedup is above the tokens that a round yields, by more than
/// repeats differ. A round over at least one row takes at least a step, whatever was drafted. Empty
/// elsewhere.
[[nodiscard]] std::string above_yield(const Answer& answer);

/// Answers for these rounds on this machine. With a budget it takes five times as long. Errors: a scenario
/// that contradicts itself, a GPU that lacks the number type or the memory (check_memory()), those of
/// predict_speedup(). Memory is not checked where the recording itself shows that it fits.
[[nodiscard]] Result<Answer> ask(const CostModel& trained, const StrategyRounds& rounds,
                                 const Machine& machine, const PredictionOptions& options = {},
                                 bool with_budget = false);

/// Time of the head and of the choice in a pass, as in the cost model. The head is the time that another
/// vocabulary of the same size would add, so it is 0 if it is hidden by launches. The choice is the rest of
/// the time that a pass takes without layers (fixed_pass_ns), including the head's launch. Neither exceeds
/// the shortest draft step of `rounds`. Errors: a scenario that contradicts itself.
[[nodiscard]] Result<PassParts> pass_parts(const CostModel& trained, const StrategyRounds& rounds,
                                           const Machine& machine);

/// Correction ladder of all rounds together; with the fewest draft tokens where their number is bounded. The
/// last rung is the answer's speedup. `rounds` must have the machine's shape. Errors: those of
/// correction_ladder().
[[nodiscard]] Result<Ladder> answer_ladder(const CostModel& trained, const StrategyRounds& rounds,
                                           const Machine& machine);

// Consecutive questions, as from a slider. Draws of one question serve the next if the prices are equal
// (another threshold changes rounds, but no price). Random numbers serve all questions.

/// Cached prices of the last question with their draws, some megabytes. Not thread-safe.
class CachedPrices {
 public:
  CachedPrices();
  ~CachedPrices();
  CachedPrices(CachedPrices&&) noexcept;
  CachedPrices& operator=(CachedPrices&&) noexcept;

 private:
  struct Last;
  friend Result<Answer> ask(const std::shared_ptr<const CostModel>& trained, const StrategyRounds& rounds,
                            const Machine& machine, const PredictionOptions& options, CachedPrices& cached);
  std::unique_ptr<Last> last_;
};

/// Same result as ask() without a budget, to the bit, but reuses `cached`. `cached` keeps `trained` and the
/// machine's costs alive and compares their addresses.
[[nodiscard]] Result<Answer> ask(const std::shared_ptr<const CostModel>& trained,
                                 const StrategyRounds& rounds, const Machine& machine,
                                 const PredictionOptions& options, CachedPrices& cached);

}  // namespace draftscope::simulator
