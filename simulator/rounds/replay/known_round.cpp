// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/known_round.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace draftscope::simulator {

namespace {

using traces::DraftStop;
using traces::DraftToken;

/// Prediction at a position; null if the table lacks it.
const ShadowCell* cell_at(const ShadowTable& table, std::int32_t position, std::int32_t layer) {
  if (position < table.end()) return &table.cell(position, layer);
  if (position > table.end() || table.end_cells.empty()) return nullptr;
  return &table.end_cells[static_cast<std::size_t>(layer - 1)];
}

std::vector<DraftToken> chain(const ShadowTable& table, const ReplayedRound& round) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<DraftToken> tokens;
  for (std::int32_t k = 0; k < round.least.drafted; ++k) {
    DraftToken token{.index = k,
                     .parent = k - 1,
                     .token = -1,
                     .confidence = unknown,
                     .probability = unknown,
                     .accepted = k < round.least.accepted,
                     .tested = k <= round.least.accepted};
    const ShadowCell* const cell =
        token.tested ? cell_at(table, round.root_position + 1 + k, round.plan.exit) : nullptr;
    if (cell != nullptr) {
      token.token = cell->token;
      token.confidence = static_cast<double>(cell->probability);
      token.probability = 1.0;
    }
    tokens.push_back(token);
  }
  return tokens;
}

/// End of the draft in the outcome with the fewest draft tokens.
DraftStop draft_stop(const ReplayedRound& round, const std::vector<DraftToken>& tokens,
                     const ReplayConditions& conditions) {
  const std::int32_t planned = round.plan.exit > 0 ? round.plan.length : 0;
  if (planned < 1) return DraftStop::no_draft;
  if (tokens.empty()) return DraftStop::budget;
  const DraftToken& last = tokens.back();
  if (std::find(conditions.end_tokens.begin(), conditions.end_tokens.end(), last.token) !=
      conditions.end_tokens.end())
    return DraftStop::eos;
  if (round.least.drafted == planned) return DraftStop::length;
  return last.confidence < round.plan.threshold || !(round.least == round.most) ? DraftStop::threshold
                                                                                : DraftStop::budget;
}

}  // namespace

KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                       const ReplayedRound& round, std::int32_t index) {
  KnownRound known;
  known.draft_tokens = chain(table, round);
  const std::int32_t drafted = round.least.drafted;
  const std::int32_t bonus = round.root_position + 1 + round.least.accepted;
  traces::Round& row = known.round;
  row.index = index;
  row.root_position = round.root_position;
  row.exit_layer = drafted > 0 ? round.plan.exit : 0;
  row.planned = round.plan.exit > 0 ? round.plan.length : 0;
  row.drafted = row.tree_depth = drafted;
  row.accepted = round.least.accepted;
  row.emitted = round.emitted;
  row.verify_rows = drafted + 1;
  if (bonus < table.end())
    row.bonus_token = table.text[static_cast<std::size_t>(bonus)];
  else if (bonus == table.end() && !table.end_cells.empty())
    row.bonus_token = table.end_cells.back().token;
  row.draft_stop = draft_stop(round, known.draft_tokens, conditions);
  row.threshold = round.plan.threshold;
  known.draft = row.exit_layer;
  known.draft_steps = drafted;
  return known;
}

}  // namespace draftscope::simulator
