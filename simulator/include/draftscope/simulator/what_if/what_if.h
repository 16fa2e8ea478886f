// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From one recording to answers: what would this strategy have given, on that machine, with that model?
//
// Three things are learnt once: the texts with what every layer would have predicted (shadow_table.h), the
// rounds as they were recorded, and the costs of passes (cost_model.h). A question then asks for rounds
// (those of a recorded run as they were; of any other setting as replay.h has them, or from a model of
// acceptance where no layer's predictions were recorded) and for prices (cost_prices.h). Each answer says
// what it rests on. Questions are independent of one another and may be asked from several threads at once.

#include <draftscope/base/result.h>
#include <draftscope/simulator/costs/cost_model.h>
#include <draftscope/simulator/costs/cost_prices.h>
#include <draftscope/simulator/hardware/scenario.h>
#include <draftscope/simulator/predicted_trace/known_rounds.h>
#include <draftscope/simulator/replay/acceptance_models.h>
#include <draftscope/simulator/replay/answer_status.h>
#include <draftscope/simulator/replay/replay.h>
#include <draftscope/simulator/replay/replay_lookup.h>
#include <draftscope/simulator/uncertainty/prediction.h>
#include <draftscope/simulator/uncertainty/variance_budget.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

class FittedAcceptance;

/// Where an answer's rounds come from.
enum class RoundSource : std::uint8_t {
  recorded,  ///< this very run was recorded
  replayed,  ///< read from the shadow tables
  modelled,  ///< from a model of acceptance, fitted to recorded rounds of the same exit
};
[[nodiscard]] std::string_view round_source_name(RoundSource source);

/// Rounds of one strategy on all prompts of the recording.
struct StrategyRounds {
  std::string strategy;
  RoundSource source = RoundSource::recorded;
  SweepSetting setting;                             ///< status and statistics by request
  std::vector<PassCount> vanilla;                   ///< target steps of the same texts, by request
  std::vector<speculation::DraftSublayers> drafts;  ///< as Scenario::drafts wants them; empty: exits
  VerifiedLayers verified_layers = VerifiedLayers::all;
  /// Time of the optimise phase in a round that drafts, in vanilla steps; known of recorded runs alone.
  double optimise_steps_per_round = 0.0;
  std::int32_t longer_context = 0;  ///< K/V rows that passes have before them beside the recorded ones
  /// How much longer a recorded run's passes took than their kinds do over all runs, as far as that is no
  /// noise: what its own rounds do to the caches. Only where it was recorded.
  double own_ratio = 1.0;
  std::vector<std::string> notes;       ///< what the rounds rest on, a line each
  std::vector<std::string> categories;  ///< [request]
};

/// A machine, with a name that tables can show.
struct Machine {
  std::string name;
  Scenario scenario;
  std::shared_ptr<const CostModel>
      costs;                         ///< measured there (calibration.h); null: learnt from the recording
  std::vector<CostNote> cost_notes;  ///< what `costs` rest on, before the notes of prices

  [[nodiscard]] const CostModel& costs_or(const CostModel& learnt) const { return costs ? *costs : learnt; }
};

struct Answer {
  AnswerStatus status = AnswerStatus::exact;  ///< of the rounds; what costs rest on is in `notes`
  std::string strategy;
  std::string machine;
  RoundSource source = RoundSource::recorded;
  double tokens = 0.0;                ///< that rounds emitted
  double mean_accepted_length = 0.0;  ///< M; with the fewest draft tokens where that is bounded, as below
  double acceptance_rate = 0.0;
  double steps_per_round = 0.0;
  /// At the mean context of the rounds.
  double target_step_ns = 0.0;
  double c = 0.0;
  double v = 0.0;
  double o = 0.0;
  double vanilla_tokens_per_second = 0.0;
  double tokens_per_second = 0.0;
  PredictedSpeedup speedup;  ///< over vanilla decoding on the same machine, prefill left out
  std::optional<VarianceBudget> budget;
  std::vector<CostNote> cost_notes;
  std::vector<std::string> notes;
};

struct WhatIfOptions {
  std::optional<GpuSpecification> recorded_on;  ///< the GPU of the recording, whose numbers become priors
  /// Costs that are not the recording's: of an imported one, which has no times that a fit could use.
  std::optional<CostModel> specified;
  /// Told of parts done, and all, often enough to stop by returning false: learn() then fails.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// Time of the optimise phase in a round that drafts.
[[nodiscard]] double optimise_ns_per_round(const StrategyRounds& rounds, const Prices& prices);

class WhatIf {
 public:
  /// `recording` must outlive the result. Errors: no usable round, no shape in meta, unreadable tables. A
  /// recording without shadow tokens is no error: what is missing shows in the answers.
  /// An imported recording needs `specified` costs; what it lacks limits the questions, as answers say.
  [[nodiscard]] static Result<WhatIf> learn(traces::Reader& reader, const traces::Recording& recording,
                                            const WhatIfOptions& options = {});

  [[nodiscard]] const CostFit& costs() const { return costs_; }
  [[nodiscard]] const std::vector<ShadowTable>& tables() const { return tables_; }

  /// Of the recording's own machine and model, at the longest context of its texts.
  [[nodiscard]] Scenario recorded_scenario() const;

  /// `strategy` as on the command line. Errors: an unknown strategy or parameter; a question that this
  /// recording can't answer, with the reason and what to record instead.
  [[nodiscard]] Result<StrategyRounds> rounds(std::string_view strategy) const;

  /// Fits now what the first question about each recorded exit would wait for where no layer's predictions
  /// were recorded.
  void fit_acceptance() const;

  /// The rounds one by one, request by request as in `rounds` (of which other contexts and shapes are left
  /// to the caller). Errors: rounds that are modelled.
  [[nodiscard]] Result<std::vector<KnownRequest>> known_rounds(const StrategyRounds& rounds) const;

  /// Means, without what the strategy spends beside passes. Errors: as ask().
  [[nodiscard]] Result<Prices> prices(const StrategyRounds& rounds, const Machine& machine) const;

  /// Errors: a scenario that contradicts itself. With a budget it takes five times as long.
  [[nodiscard]] Result<Answer> ask(const StrategyRounds& rounds, const Machine& machine,
                                   const SweepOptions& options = {}, bool with_budget = false) const;

  /// Of the tokens a second alone, with intervals. Errors: as ask().
  [[nodiscard]] Result<PredictedRate> rate(const StrategyRounds& rounds, const Machine& machine,
                                           const SweepOptions& options = {}) const;

 private:
  [[nodiscard]] const std::vector<ShadowTable>& texts() const { return tables_.empty() ? texts_ : tables_; }
  [[nodiscard]] Result<PriceMap> price_map(const StrategyRounds& rounds, const Machine& machine) const;
  [[nodiscard]] double mean_vanilla_step_ns() const;
  [[nodiscard]] double own_ratio(std::int64_t run) const;
  [[nodiscard]] Result<StrategyRounds> recorded_rounds(const RunRows& run) const;
  [[nodiscard]] Result<std::unique_ptr<Policy>> replayed_policy(std::string_view strategy) const;
  [[nodiscard]] Result<StrategyRounds> replayed_rounds(std::string_view strategy) const;
  [[nodiscard]] Result<std::vector<std::vector<LookupRound>>> replayed_lookups(
      std::string_view strategy) const;
  [[nodiscard]] Result<StrategyRounds> lookup_rounds(std::string_view strategy) const;
  [[nodiscard]] Result<StrategyRounds> imported_rounds(const RunRows& run) const;
  [[nodiscard]] Result<StrategyRounds> rounds_of_import(std::string_view strategy) const;
  [[nodiscard]] const std::optional<AcceptanceModel>& acceptance_of_exit(const RunRows& run) const;
  [[nodiscard]] Result<StrategyRounds> modelled_rounds(std::string_view strategy) const;

  const traces::Recording* recording_ = nullptr;
  std::vector<RunRows> runs_;
  /// One text a prompt, of vanilla decoding if that was recorded.
  std::vector<ShadowTable> tables_;
  std::vector<std::string> table_categories_;
  std::string no_tables_reason_;
  /// Without tables: the texts alone, chosen likewise.
  std::vector<ShadowTable> texts_;
  std::vector<std::string> text_categories_;
  std::string no_conditions_reason_;
  ReplayConditions conditions_;
  CostFit costs_;
  std::vector<MeasuredRun> measured_runs_;
  std::shared_ptr<FittedAcceptance> fitted_acceptance_;  ///< of recorded runs, once it was asked for
};

}  // namespace draftscope::simulator
