// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt lookup and suffix decoding on recorded texts. Guesses follow from token ids alone, so that every
// round is told without a shadow token, guess by guess as the engine's strategies make them. Token recycling
// goes by more than a text has, of which recorded trees show the most: its rounds are approximate.

#include <draftscope/base/result.h>
#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/known_round.h"
#include "rounds/replay/replay.h"
#include "strategies/prompt-lookup/rule.h"
#include "strategies/rule_guess.h"
#include "strategies/suffix-decoding/rule.h"
#include "strategies/token-recycling/rule.h"

namespace draftscope::simulator {

class PricedGuard;  // rounds/replay/priced_guard.h

struct LookupRound {
  std::int32_t root_position = 0;
  std::int32_t planned = 0;                     ///< depth of the guesses before the cut
  std::vector<speculation::TextGuess> guesses;  ///< after the cut at budget, context and width
  std::vector<std::int32_t> path;               ///< of them, those accepted
  DraftOutcome outcome;
  std::int32_t emitted = 0;
  /// `bounded`: guesses behind the end of the text, of which `outcome` counts none as accepted.
  AnswerStatus status = AnswerStatus::exact;
};

/// The rounds of a request of prompt lookup. Of `table` only the text is read, and if there are any its
/// end_cells. A guard makes some rounds vanilla; it takes guesses for draft 1, and null is none.
[[nodiscard]] std::vector<LookupRound> replay_lookup(const ShadowTable& table,
                                                     const speculation::LookupOptions& options,
                                                     const ReplayConditions& conditions, std::int32_t vocab,
                                                     PricedGuard* guard = nullptr);

/// The rounds of suffix decoding, [request][round]: `tables` are requests that one strategy decoded one after
/// the other, so that it remembers earlier ones' outputs.
[[nodiscard]] std::vector<std::vector<LookupRound>> replay_suffixes(std::span<const ShadowTable> tables,
                                                                    const speculation::SuffixOptions& options,
                                                                    const ReplayConditions& conditions,
                                                                    PricedGuard* guard = nullptr);

/// Tokens that token recycling had kept behind a token when it drafted, the best first, as far as its tree
/// shows them.
struct KeptSuccessors {
  std::int32_t root_position = 0;  ///< of the round
  std::int32_t token = -1;
  std::vector<std::int32_t> successors;
};

/// The rounds of token recycling, [request][round], of requests that one strategy decoded one after the
/// other. Behind a token is taken to be kept what `kept` last showed there, [request] in the order of
/// positions; behind a token of the text what followed it there since, and before that what was known.
[[nodiscard]] std::vector<std::vector<LookupRound>> replay_recycling(
    std::span<const ShadowTable> tables, std::span<const std::vector<KeptSuccessors>> kept,
    const speculation::RecyclingOptions& options, const ReplayConditions& conditions, std::int32_t vocab,
    PricedGuard* guard = nullptr);

/// The round as a row. No model drafts: its passes are those of draft 1 with no sublayers.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const LookupRound& round, std::int32_t index);

/// The rounds' passes, likewise.
[[nodiscard]] RoundStatistics lookup_statistics(std::span<const LookupRound> rounds);

}  // namespace draftscope::simulator
