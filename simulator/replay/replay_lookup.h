// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt lookup on a recorded text: what followed the text's last tokens before is guessed to follow again
// (Saxena 2023; transformers' PromptLookupCandidateGenerator). Guesses follow from token ids alone, so that
// every round is told without a shadow token, guess by guess as the engine's strategy makes them.

#include <draftscope/base/result.h>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "predicted_trace/known_rounds.h"
#include "replay/replay.h"

namespace draftscope::simulator {

struct LookupOptions {
  /// Which occurrence of an end of the text; `longest`: the leftmost of the longest one that occurred before.
  enum class Match : std::uint8_t { leftmost, latest, longest };
  std::int32_t ngram = 3;           ///< tokens of the longest end that is looked up
  std::int32_t smallest_ngram = 1;  ///< of the shortest
  std::int32_t length = 10;         ///< guesses a round
  Match match = Match::leftmost;
  bool is_published = true;  ///< continuations of the full length alone, one fixed guess without a match;
                             ///< else as transformers does
};

/// "prompt-lookup:ngram=2,…", with the engine's defaults. Errors: an unknown parameter or value.
[[nodiscard]] Result<LookupOptions> lookup_options(std::string_view specification);

/// What is guessed to follow `text`. O(text · its longest match).
[[nodiscard]] std::vector<std::int32_t> lookup_guesses(std::span<const std::int32_t> text,
                                                       const LookupOptions& options,
                                                       std::span<const std::int32_t> end_tokens,
                                                       std::int32_t vocab);

struct LookupRound {
  std::int32_t root_position = 0;
  std::vector<std::int32_t> guesses;  ///< before the cut at budget, context and width
  DraftOutcome outcome;
  std::int32_t emitted = 0;
  /// `bounded`: guesses behind the end of the text, of which `outcome` counts none as accepted.
  AnswerStatus status = AnswerStatus::exact;
};

/// Of `table` only the text is read, and if there are any its end_cells.
[[nodiscard]] std::vector<LookupRound> replay_lookup(const ShadowTable& table, const LookupOptions& options,
                                                     const ReplayConditions& conditions, std::int32_t vocab);

/// As a row. No model drafts: its passes are those of draft 1 with no sublayers.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const LookupRound& round, std::int32_t index);

/// The rounds' passes, likewise.
[[nodiscard]] RoundStatistics lookup_statistics(std::span<const LookupRound> rounds);

}  // namespace draftscope::simulator
