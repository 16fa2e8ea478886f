// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Data that questions about one recording need, read and fitted once (what_if.h), and the sources of rounds:
// one function for each origin. Thread-safe once trained.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/what_if.h>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prices/costs/cost_observations.h"
#include "rounds/accepted_otherwise.h"
#include "rounds/drafts/fitted_acceptance.h"
#include "rounds/drafts/own_times.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/drafts/staged_passes.h"
#include "rounds/replay/policy.h"
#include "rounds/replay/replay.h"
#include "rounds/replay/replay_lookup.h"

namespace draftscope::simulator {

class PricedGuard;   // rounds/replay/priced_guard.h
class SetAgreement;  // rounds/drafts/set_agreement.h

/// Texts of the recording, one per prompt, of vanilla decoding if that was recorded.
struct PromptTexts {
  std::vector<ShadowTable> tables;
  std::vector<std::string> categories;  ///< [table]
};

struct TrainedRecording {
  const traces::Recording* recording = nullptr;
  std::vector<RunRows> runs;
  std::unordered_map<std::string, std::size_t> first_run;  ///< in `runs`, by specification_key()
  LayerSetsById layer_sets;
  PromptTexts shadowed;          ///< with every layer's predictions; empty without shadow tokens
  std::string no_tables_reason;  ///< one line; empty if there are tables
  PromptTexts plain;             ///< where `shadowed` is empty: token ids alone
  ReplayConditions conditions;
  std::string no_conditions_reason;  ///< one line; empty if they are known
  CostFit costs;
  std::vector<MeasuredRun> measured_runs;             ///< in the order of run_id
  std::vector<HostOfRun> hosts;                       ///< of the runs that draft
  std::shared_ptr<FittedAcceptance> acceptance;       ///< of recorded runs, once it was asked for
  std::shared_ptr<const SetAgreement> set_agreement;  ///< null where no set of sublayers was tried
  std::size_t tried_sets = 0;                         ///< that it was fitted to
  TargetProbabilities target_probabilities;           ///< empty where they were not recorded
  StagedPasses staged_passes;                         ///< of drafts in stages

  [[nodiscard]] const PromptTexts& texts() const { return shadowed.tables.empty() ? plain : shadowed; }
  [[nodiscard]] std::int32_t n_layers() const { return costs.model.shape.n_layers; }
};

/// Errors: as WhatIf::train().
[[nodiscard]] Result<TrainedRecording> train(traces::Reader& reader, const traces::Recording& recording,
                                             const WhatIfOptions& options);

/// Rounds from the source that has them: a recorded run of the same setting, else a replay, else a model of
/// acceptance. `machine`, null for the recorded one, matters to strategies that go by times. Errors: as
/// WhatIf::rounds(), as of all below.
[[nodiscard]] Result<StrategyRounds> rounds_of(const TrainedRecording& trained, std::string_view strategy,
                                               const Machine* machine = nullptr);

/// The first run of the same setting; null if none was recorded.
[[nodiscard]] const RunRows* recorded_run(const TrainedRecording& trained, std::string_view strategy);

/// The run's rounds as they were recorded.
[[nodiscard]] Result<StrategyRounds> recorded_rounds(const TrainedRecording& trained, const RunRows& run);

/// Rounds of a policy on the shadow tables.
[[nodiscard]] Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained,
                                                     std::string_view strategy);
/// The same of the policy, which the strategy's is a part of.
[[nodiscard]] Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained,
                                                     std::string_view strategy, Policy& policy);
[[nodiscard]] Result<std::unique_ptr<Policy>> replayed_policy(const TrainedRecording& trained,
                                                              std::string_view strategy);

/// Whether its rounds follow from token ids: prompt lookup, suffix decoding; token recycling as far as texts
/// and recorded trees tell.
[[nodiscard]] bool follows_from_texts(std::string_view specification);
/// Its rounds, if they do. What is remembered across requests is of the recording's requests in their order.
/// `guard`: hears of them, and makes some of them vanilla; null = none.
[[nodiscard]] Result<StrategyRounds> lookup_rounds(const TrainedRecording& trained, std::string_view strategy,
                                                   PricedGuard* guard = nullptr);
/// The same one by one, [text][round].
[[nodiscard]] Result<std::vector<std::vector<LookupRound>>> replayed_lookups(const TrainedRecording& trained,
                                                                             std::string_view strategy,
                                                                             PricedGuard* guard = nullptr);

/// Rounds of `auto`: its rule over the recorded texts, with the times that its rounds would take on `machine`
/// (null: the recorded one), and with what is recorded of its drafters (rounds/auto_texts.h).
[[nodiscard]] Result<StrategyRounds> auto_rounds(const TrainedRecording& trained, std::string_view strategy,
                                                 const Machine* machine);

/// Rounds of a strategy with a guard, where those without it are replayed one by one: the guard goes by the
/// times that they would take on `machine` (null: the recorded one).
[[nodiscard]] Result<StrategyRounds> guarded_rounds(const TrainedRecording& trained,
                                                    std::string_view strategy, const Machine* machine);

/// Rounds of a setting from what a recorded run of the same draft drafted (redraft.h): exact where
/// that decides them, else with a model of acceptance where it does not tell.
[[nodiscard]] Result<StrategyRounds> drafted_rounds(const TrainedRecording& trained,
                                                    std::string_view strategy);
/// Fits the models of acceptance of all recorded drafts.
void fit_acceptance(const TrainedRecording& trained);

/// Rounds of a run of an imported file, as far as the file tells them.
[[nodiscard]] Result<StrategyRounds> imported_rounds(const TrainedRecording& trained, const RunRows& run);
/// Rounds of an early exit from what an imported run accepted.
[[nodiscard]] Result<StrategyRounds> modelled_import(const TrainedRecording& trained,
                                                     std::string_view strategy);

/// The same text for all specifications of the same name and parameters, in whatever order.
[[nodiscard]] std::string specification_key(std::string_view specification);

/// Whether the specification has this name or "key=value".
[[nodiscard]] bool has_piece(std::string_view specification, std::string_view piece);

/// Layers that a verification of the specified strategy runs.
[[nodiscard]] VerifiedLayers specified_verified_layers(std::string_view specification);

/// Target steps of the same text by vanilla decoding, which takes one to find an end token.
[[nodiscard]] PassCount vanilla_steps_of(const RequestRows& rows, std::int64_t emitted);

/// Tokens that the request's rounds emitted.
[[nodiscard]] std::int64_t emitted_tokens(const RequestRows& rows);

}  // namespace draftscope::simulator
