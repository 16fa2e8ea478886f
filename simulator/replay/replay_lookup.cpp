// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/replay_lookup.h"

#include <algorithm>
#include <optional>

#include "replay/draft_walk.h"

namespace draftscope::simulator {

namespace {

/// The token that ended the text, if it is known.
std::optional<std::int32_t> end_token(const ShadowTable& table, const ReplayConditions& conditions) {
  if (!table.end_cells.empty()) return table.end_cells.back().token;
  if (conditions.end_tokens.size() == 1) return conditions.end_tokens.front();
  return std::nullopt;
}

}  // namespace

std::vector<LookupRound> replay_lookup(const ShadowTable& table, const speculation::LookupOptions& options,
                                       const ReplayConditions& conditions, std::int32_t vocab) {
  std::vector<LookupRound> rounds;
  speculation::PromptLookup lookup(options, vocab);
  lookup.begin_request(table.text.size(), conditions.end_tokens);
  const std::optional<std::int32_t> end = end_token(table, conditions);
  for (std::int32_t root = table.first - 1; has_round(table, root);) {
    const RoundState state = state_at(table, conditions, static_cast<std::int32_t>(rounds.size()), root);
    LookupRound& round = rounds.emplace_back();
    round.root_position = root;
    const auto guesses = lookup.guess(std::span(table.text).first(static_cast<std::size_t>(root) + 1));
    round.guesses.assign(guesses.begin(), guesses.end());
    const PlannedRound plan{.exit = 1, .length = static_cast<std::int32_t>(round.guesses.size())};
    round.outcome.drafted = longest_draft(state, plan, conditions);
    std::int32_t& accepted = round.outcome.accepted;
    while (accepted < round.outcome.drafted) {
      const std::int32_t position = root + 1 + accepted;
      const std::int32_t guess = round.guesses[static_cast<std::size_t>(accepted)];
      const bool is_known = position < table.end() || (position == table.end() && end.has_value());
      if (!is_known) round.status = AnswerStatus::bounded;
      if (!is_known ||
          guess != (position < table.end() ? table.text[static_cast<std::size_t>(position)] : *end))
        break;
      ++accepted;
    }
    round.emitted = emitted_tokens(table, root, accepted);
    root += accepted + 1;
  }
  return rounds;
}

KnownRound known_round(const ShadowTable& table, const LookupRound& round, std::int32_t index) {
  KnownRound known;
  traces::Round& row = known.round;
  row.index = index;
  row.root_position = round.root_position;
  row.planned = static_cast<std::int32_t>(round.guesses.size());
  row.drafted = row.tree_depth = round.outcome.drafted;
  row.accepted = round.outcome.accepted;
  row.emitted = round.emitted;
  row.verify_rows = row.drafted + 1;
  const std::int32_t bonus = row.root_position + 1 + row.accepted;
  if (bonus < table.end())
    row.bonus_token = table.text[static_cast<std::size_t>(bonus)];
  else if (bonus == table.end() && !table.end_cells.empty())
    row.bonus_token = table.end_cells.back().token;
  row.draft_stop = row.planned == 0            ? traces::DraftStop::no_draft
                   : row.drafted < row.planned ? traces::DraftStop::budget
                                               : traces::DraftStop::length;
  for (std::int32_t k = 0; k < row.drafted; ++k)
    known.draft_tokens.push_back({.index = k,
                                  .parent = k - 1,
                                  .token = round.guesses[static_cast<std::size_t>(k)],
                                  .confidence = 1.0,
                                  .probability = 1.0,
                                  .accepted = k < row.accepted,
                                  .tested = k <= row.accepted});
  known.draft = row.drafted > 0 ? 1 : 0;
  return known;
}

RoundStatistics lookup_statistics(std::span<const LookupRound> rounds) {
  RoundStatistics statistics;
  for (const LookupRound& round : rounds)
    add_round(statistics, 1, round.root_position, round.outcome, round.emitted);
  for (DraftStatistics& draft : statistics.drafts) draft.steps = {};
  return statistics;
}

}  // namespace draftscope::simulator
