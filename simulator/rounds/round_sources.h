// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sources of a strategy's rounds, with one function for each: a recorded run, a replay, a model of
// acceptance. All are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rounds/replay/known_round.h"
#include "rounds/replay/policy.h"
#include "rounds/replay/replay_lookup.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

class PricedGuard;  // rounds/replay/priced_guard.h

/// Rounds from the best source: a recorded run of the same setting, else a replay, else a model of
/// acceptance. `machine`, null for the recorded one, matters to strategies that decide by times. Errors of
/// this and all functions below: those of WhatIf::rounds().
[[nodiscard]] Result<StrategyRounds> rounds_of(const TrainedRecording& trained, std::string_view strategy,
                                               const Machine* machine = nullptr);

/// The first run of the same setting, by whatever name and with defaults given or not; null if none was
/// recorded.
[[nodiscard]] const RunRows* recorded_run(const TrainedRecording& trained, std::string_view strategy);

/// Recorded rounds of the run.
[[nodiscard]] Result<StrategyRounds> recorded_rounds(const TrainedRecording& trained, const RunRows& run);

/// Vanilla decoding of the prompts that the run decoded, as recorded; without requests where it was not.
[[nodiscard]] RunRows vanilla_of(const TrainedRecording& trained, const RunRows& run);

/// Measured time of vanilla decoding / its time by prices; 1 without requests.
[[nodiscard]] double vanilla_time_ratio(const RunRows& vanilla, const Prices& prices);

/// Puts the own ratios (StrategyRounds::own_ratio) of the requests of `run`, of which `own` are the rounds as
/// recorded. `vanilla` is vanilla decoding of the same. Without times, or prices fitted to them, nothing
/// changes. Both rounds may be the same.
void put_own_ratios(const TrainedRecording& trained, const RunRows& run, const RunRows& vanilla,
                    const StrategyRounds& own, StrategyRounds& into);

/// A recorded run with its times.
struct MeasuredRounds {
  const RunRows* run = nullptr;
  StrategyRounds rounds;  ///< As recorded.
};

/// The run that `rounds` are of, under whatever conditions; absent where they have no times of their own.
[[nodiscard]] std::optional<MeasuredRounds> measured_rounds(const TrainedRecording& trained,
                                                            const StrategyRounds& rounds);

/// Puts the own ratios of the run's requests on these prompts alone, in place of those of all.
void put_own_ratios(const TrainedRecording& trained, const MeasuredRounds& measured,
                    std::span<const traces::PromptId> prompts, StrategyRounds& part);

/// Replays the strategy's policy on the shadow tables.
[[nodiscard]] Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained,
                                                     std::string_view strategy);
/// Replays `policy`, which wraps the strategy's own policy.
[[nodiscard]] Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained,
                                                     std::string_view strategy, Policy& policy);
[[nodiscard]] Result<std::unique_ptr<Policy>> replayed_policy(const TrainedRecording& trained,
                                                              std::string_view strategy);

/// Whether its rounds follow from token ids: prompt lookup, suffix decoding, and token recycling, jacobi and
/// lookahead as far as texts and recorded rounds of theirs determine them.
[[nodiscard]] bool follows_from_texts(std::string_view specification);
/// Rounds that follow from texts.
struct TextRounds {
  std::vector<std::vector<LookupRound>> requests;  ///< [text][round]
  /// Rounds of the case with the fewest accepted guesses, [text][round]; empty = there is one case.
  std::vector<std::vector<LookupRound>> fewest;
  AnswerStatus status = AnswerStatus::exact;  ///< The best possible status.
  std::vector<std::string> notes;
};
/// Rounds of a strategy that follows from texts. State is carried across the recording's requests in their
/// order. `guard` observes the rounds, and makes some of them vanilla; null = none.
[[nodiscard]] Result<StrategyRounds> lookup_rounds(const TrainedRecording& trained, std::string_view strategy,
                                                   PricedGuard* guard = nullptr);
/// Rounds of lookup_rounds() one by one.
[[nodiscard]] Result<TextRounds> replayed_lookups(const TrainedRecording& trained, std::string_view strategy,
                                                  PricedGuard* guard = nullptr);

/// The first request of the run that decoded each of the texts, [text]; null where none did.
[[nodiscard]] std::vector<const RequestRows*> requests_of_texts(const TrainedRecording& trained,
                                                                const RunRows& run);

/// Rounds of a strategy with a guard, if those without it are replayed one by one. The guard decides by their
/// times on `machine` (null = the recorded one).
[[nodiscard]] Result<StrategyRounds> guarded_rounds(const TrainedRecording& trained,
                                                    std::string_view strategy, const Machine* machine);

/// Rounds of a setting from the drafts of a recorded run with the same draft (redraft.h): exact where these
/// determine them, else with a model of acceptance.
[[nodiscard]] Result<StrategyRounds> drafted_rounds(const TrainedRecording& trained,
                                                    std::string_view strategy);
/// Fits the models of acceptance of all recorded drafts.
void fit_acceptance(const TrainedRecording& trained);

/// Rounds of a run of an imported file, as far as the file contains them.
[[nodiscard]] Result<StrategyRounds> imported_rounds(const TrainedRecording& trained, const RunRows& run);
/// Rounds of an early exit from the tokens that an imported run accepted.
[[nodiscard]] Result<StrategyRounds> modelled_import(const TrainedRecording& trained,
                                                     std::string_view strategy);

/// Key that is equal for all specifications of the same name and parameters, in any order.
[[nodiscard]] std::string specification_key(std::string_view specification);

/// Layers that the verifications of a recorded run's drafts ran (verifies_above_exit()).
[[nodiscard]] VerifiedLayers verified_layers(const traces::Run& run);

/// Layers that a verification of the specified strategy runs.
[[nodiscard]] VerifiedLayers specified_verified_layers(std::string_view specification);

struct KnownRequest {
  const traces::Request* request = nullptr;  ///< Request whose text it is.
  const traces::Prompt* prompt = nullptr;
  std::vector<KnownRound> rounds;
};

/// Rounds one by one, per request as in `rounds`. The caller must apply other contexts and shapes. Errors:
/// rounds that are modelled, an imported recording.
[[nodiscard]] Result<std::vector<KnownRequest>> known_rounds(const TrainedRecording& trained,
                                                             const StrategyRounds& rounds);

// Alternative acceptance of a recorded run at a temperature: token by token instead of as a block, or the
// reverse. The other law (prices/closed_forms.h) judges the recorded drafts, from the target and draft
// probabilities of their tokens.

/// Finds the run whose strategy differs only in its acceptance, in a recording where that changes the draws;
/// null if there is none.
[[nodiscard]] const RunRows* accepted_otherwise(const TrainedRecording& trained,
                                                const speculation::StrategySpecification& strategy);

/// The run's rounds with the number of tokens that the strategy's acceptance is expected to accept of its
/// drafts. Approximate, since the texts are other draws of the same law. Without target probabilities the
/// rounds are unchanged, and a note says so. Errors: those of recorded_rounds().
[[nodiscard]] Result<StrategyRounds> rounds_accepted_otherwise(
    const TrainedRecording& trained, const RunRows& run, const speculation::StrategySpecification& strategy,
    std::string_view text);

}  // namespace draftscope::simulator
