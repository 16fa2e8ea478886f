// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds of one strategy on the prompts of a recording, the part of an answer that does not depend on the
// machine. They can be adapted to other conditions than the recorded ones (a longer context, another model's
// shape).
//
// All types are values; all functions are thread-safe.

#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/traces/ids.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Origin of an answer's rounds.
enum class RoundSource : std::uint8_t {
  recorded,  ///< This very run was recorded.
  replayed,  ///< Read from the shadow tables.
  modelled,  ///< Derived from a run that drafted otherwise, as far as it tells, and from a model of
             ///< acceptance beyond.
};
[[nodiscard]] std::string_view round_source_name(RoundSource source);

/// Rounds of one strategy with all its parameters.
struct SettingRounds {
  AnswerStatus status = AnswerStatus::exact;
  std::vector<RoundStatistics> min_drafted;  ///< [request]; the first of two cases, or the only one
  /// [request]; the other case, or the one with the most draft tokens; empty = none.
  std::vector<RoundStatistics> max_drafted;
};

/// Rounds of one strategy on all prompts of the recording, one request per prompt.
struct StrategyRounds {
  std::string strategy;  ///< The strategy as on the command line.
  RoundSource source = RoundSource::recorded;
  SettingRounds setting;                            ///< Status and statistics per request.
  std::vector<PassCount> vanilla;                   ///< [request]: target steps of the same texts
  std::vector<speculation::DraftSublayers> drafts;  ///< Drafts, as in Scenario::drafts; empty = exits.
  VerifiedLayers verified_layers = VerifiedLayers::all;
  std::vector<AuxiliaryPass>
      auxiliary_passes;  ///< Auxiliary passes, as in Scenario::auxiliary_passes; the statistics count them.
  std::optional<ModelShape> draft_model;  ///< Model that drafts for the target, if another one does.
  bool lacks_draft_model = false;   ///< Whether another model drafts, whose shape is not in the recording.
  std::int32_t longer_context = 0;  ///< K/V rows before passes in addition to the recorded ones.
  /// Measured time of a recorded run / its time by prices, which are of all runs' passes: the effect of its
  /// rounds on the caches, and noise. Both are in times of vanilla decoding of the same prompts, so that its
  /// answer on the recorded machine has the measured speedup. 1 where the run was not recorded.
  double own_ratio = 1.0;
  double own_draft_ratio = 1.0;    ///< Such a ratio of the run's draft steps.
  double own_verify_ratio = 1.0;   ///< Such a ratio of the run's verifications.
  double vanilla_ratio = 1.0;      ///< Vanilla decoding of the same prompts: measured / priced time.
  bool is_measured = false;        ///< Whether these ratios are of measured times.
  bool is_of_other_texts = false;  ///< Whether the question is about texts of a kind that was not recorded.
  double stated_rounds = 0.0;      ///< Rounds of a run of which a file only states a rate; 0 if known.
  std::vector<std::string> notes;  ///< Basis of the rounds, one line each.
  std::vector<std::string> categories;  ///< [request]
  /// [request]; empty where requests are the recording's texts in their order, as in replays
  std::vector<traces::PromptId> prompts;
};

/// Marks the rounds as a question about texts of a kind that was not recorded, with a reason for a note. The
/// rounds stay, the answer becomes approximate, and its intervals include the spread between kinds of texts.
void ask_of_other_texts(StrategyRounds& rounds, std::string_view reason);

/// Puts `rows` more K/V rows before every pass. Acceptance stays constant, and a note says so.
void lengthen_context(StrategyRounds& rounds, std::int32_t rows);

/// Adapts the rounds to a model of another depth: exit layers and sublayers stay at the same share of the
/// depth. The recording does not tell which tokens another model would accept. So the answer is approximate,
/// and notes say so and which exit became which. With `exit`, drafts that are exits become that exit of the
/// asked model. Rounds stay unchanged for the same number of layers and name.
[[nodiscard]] StrategyRounds for_shape(StrategyRounds rounds, const ModelShape& recorded,
                                       const ModelShape& asked, std::optional<std::int32_t> exit = {});

/// Whether a strategy decides by the times of its rounds (`auto`, and any with a guard), so that its rounds
/// differ between machines.
[[nodiscard]] bool goes_by_times(std::string_view strategy);

}  // namespace draftscope::simulator
