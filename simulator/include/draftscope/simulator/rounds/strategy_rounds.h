// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds of one strategy on the prompts of a recording: the part of an answer that does not depend on the
// machine, and the same rounds under other circumstances than the recorded ones (a longer context, another
// model's shape).
//
// Values; all functions are thread-safe.

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
  recorded,  ///< this very run was recorded
  replayed,  ///< read from the shadow tables
  modelled,  ///< from what a run drafted otherwise, as far as it tells, and a model of acceptance beyond
};
[[nodiscard]] std::string_view round_source_name(RoundSource source);

/// Rounds of one strategy with all its parameters.
struct SweepSetting {
  AnswerStatus status = AnswerStatus::exact;
  std::vector<RoundStatistics>
      min_drafted;  ///< [request]; with the fewest draft tokens, if that is not certain
  std::vector<RoundStatistics> max_drafted;  ///< [request]; with the most. Empty if it is certain
};

/// Rounds of one strategy on all prompts of the recording, one request per prompt.
struct StrategyRounds {
  std::string strategy;  ///< as on the command line
  RoundSource source = RoundSource::recorded;
  SweepSetting setting;                             ///< status and statistics by request
  std::vector<PassCount> vanilla;                   ///< target steps of the same texts, by request
  std::vector<speculation::DraftSublayers> drafts;  ///< as Scenario::drafts wants them; empty: exits
  VerifiedLayers verified_layers = VerifiedLayers::all;
  std::vector<AuxiliaryPass>
      auxiliary_passes;  ///< as Scenario::auxiliary_passes wants them; counted in the statistics
  std::optional<ModelShape> draft_model;  ///< that drafts beside the target, where another does
  bool lacks_draft_model = false;         ///< another model drafts, whose shape is not in the recording
  std::int32_t longer_context = 0;        ///< K/V rows that passes have before them beside the recorded ones
  /// Ratio of a recorded run's pass times to those of the same kinds over all runs, as far as that is no
  /// noise: what its own rounds do to the caches, and what its rounds take less than others beside passes. 1
  /// where the run was not recorded.
  double own_ratio = 1.0;
  bool is_of_other_texts = false;       ///< asked about texts of a kind that was not recorded
  std::vector<std::string> notes;       ///< what the rounds rest on, a line each
  std::vector<std::string> categories;  ///< [request]
  /// [request]; empty where requests are the recording's texts in their order, as replays have them.
  std::vector<traces::PromptId> prompts;
};

/// Asks about texts of a kind that was not recorded, for a reason that a note gives: the rounds stay, the
/// answer is approximate, and its intervals have the spread between kinds of texts.
void ask_of_other_texts(StrategyRounds& rounds, std::string_view reason);

/// Puts `rows` more K/V rows before every pass; acceptance is held, which a note says.
void lengthen_context(StrategyRounds& rounds, std::int32_t rows);

/// The rounds, priced for a model of another depth: exit layers and sublayers stay at the same share of the
/// depth. The recording does not tell which tokens another model would accept: the answer is approximate, and
/// notes say so and which exit became which. With `exit`, drafts that are exits become that one of the asked
/// model's. Unchanged for the same number of layers and name.
[[nodiscard]] StrategyRounds for_shape(StrategyRounds rounds, const ModelShape& recorded,
                                       const ModelShape& asked, std::optional<std::int32_t> exit = {});

/// Whether a strategy chooses by what its rounds take (`auto`, and any with a guard), so that each machine
/// has rounds of its own.
[[nodiscard]] bool goes_by_times(std::string_view strategy);

}  // namespace draftscope::simulator
