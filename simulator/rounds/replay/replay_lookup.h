// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt lookup and suffix decoding on recorded texts. Guesses follow from token ids only, so every round can
// be computed without a shadow token, with the guesses of the engine's strategies. Token recycling depends on
// more than a text, most of which recorded trees show; its rounds are approximate.

#include <draftscope/base/result.h>
#include <cstdint>
#include <functional>
#include <optional>
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
  std::int32_t planned = 0;                     ///< Depth of the guesses before the cut.
  std::vector<speculation::TextGuess> guesses;  ///< Guesses after the cut at budget, context and width.
  std::int32_t extra_rows = 0;     ///< Rows of the verification that are computed for predictions alone.
  std::vector<std::int32_t> path;  ///< Indices of the accepted guesses.
  DraftOutcome outcome;
  std::int32_t emitted = 0;
  /// Is `bounded` with guesses after the end of the text; `outcome` counts none of them as accepted.
  AnswerStatus status = AnswerStatus::exact;
};

/// Guesses of a round, which follow the text's last token, and the rows that it verifies besides.
struct RoundGuesses {
  std::span<const speculation::TextGuess> guesses;
  std::int32_t extra_rows = 0;
};
/// Returns the guesses after a text; `earlier` are the request's rounds so far.
using GuessAfter =
    std::function<RoundGuesses(std::span<const std::int32_t> text, std::span<const LookupRound> earlier)>;

/// The rounds of a request with these guesses. A guard makes some rounds vanilla, for which nothing is
/// guessed; null = none.
[[nodiscard]] std::vector<LookupRound> replay_guesses(const ShadowTable& table,
                                                      const ReplayConditions& conditions, PricedGuard* guard,
                                                      const GuessAfter& guess_after);

/// The token that ended the text, if it is known.
[[nodiscard]] std::optional<std::int32_t> end_token(const ShadowTable& table,
                                                    const ReplayConditions& conditions);

/// The rounds of a request of prompt lookup. Of `table` it reads only the text, and end_cells if there are
/// any. A guard makes some rounds vanilla; it counts guesses as draft 1, null = none.
[[nodiscard]] std::vector<LookupRound> replay_lookup(const ShadowTable& table,
                                                     const speculation::LookupOptions& options,
                                                     const ReplayConditions& conditions, std::int32_t vocab,
                                                     PricedGuard* guard = nullptr);

/// The rounds of suffix decoding, [request][round]. `tables` are requests that one strategy decoded one after
/// the other, so that it knows the outputs of earlier ones.
[[nodiscard]] std::vector<std::vector<LookupRound>> replay_suffixes(std::span<const ShadowTable> tables,
                                                                    const speculation::SuffixOptions& options,
                                                                    const ReplayConditions& conditions,
                                                                    PricedGuard* guard = nullptr);

/// Successors of a token that token recycling had stored when it drafted, the best first, as far as its tree
/// shows them.
struct KeptSuccessors {
  std::int32_t root_position = 0;  ///< Root position of the round.
  std::int32_t token = -1;
  std::vector<std::int32_t> successors;
};

/// The rounds of token recycling, [request][round], of requests that one strategy decoded one after the
/// other. `kept` is [request], in order of positions. The stored successors of a token are assumed to be the
/// last ones in `kept`; a token that later follows it in the text is put before them.
[[nodiscard]] std::vector<std::vector<LookupRound>> replay_recycling(
    std::span<const ShadowTable> tables, std::span<const std::vector<KeptSuccessors>> kept,
    const speculation::RecyclingOptions& options, const ReplayConditions& conditions, std::int32_t vocab,
    PricedGuard* guard = nullptr);

/// The round as a row. No model drafts: its passes are those of draft 1 with no sublayers.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const LookupRound& round, std::int32_t index);

/// Passes of the rounds, as those of draft 1 with no sublayers.
[[nodiscard]] RoundStatistics lookup_statistics(std::span<const LookupRound> rounds);

}  // namespace draftscope::simulator
