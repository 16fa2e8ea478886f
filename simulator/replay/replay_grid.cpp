// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/replay_grid.h>

#include <algorithm>

#include "replay/draft_walk.h"

namespace draftscope::simulator {

namespace {

/// What a walk with one exit needs to know of each position.
struct ExitRuns {
  std::int32_t exit = 0;
  std::vector<std::int32_t> lengths;  ///< run_lengths()
  std::vector<std::uint8_t> ends_at;  ///< the layer predicts an end token there
};

ExitRuns runs_of(const ShadowTable& table, std::int32_t exit, const ReplayConditions& conditions) {
  ExitRuns runs{exit, run_lengths(table, exit), {}};
  runs.ends_at.resize(runs.lengths.size());
  for (std::size_t i = 0; i < runs.lengths.size(); ++i) {
    const std::int32_t token = table.cell(table.first + static_cast<std::int32_t>(i), exit).token;
    runs.ends_at[i] = std::find(conditions.end_tokens.begin(), conditions.end_tokens.end(), token) !=
                              conditions.end_tokens.end()
                          ? 1
                          : 0;
  }
  return runs;
}

DraftWalk walk(const ExitRuns& runs, const RoundState& state, std::int32_t longest,
               const ReplayConditions& conditions) {
  const auto start = static_cast<std::size_t>(state.root_position + 1 - state.table->first);
  const std::int32_t length = start < runs.lengths.size() ? runs.lengths[start] : 0;
  if (length >= longest) return {{longest, longest}, {longest, longest}};
  const std::size_t wrong = start + static_cast<std::size_t>(length);
  if (runs.ends_at[wrong] != 0) return {{length + 1, length}, {length + 1, length}};
  const bool may_end_early = length + 1 < longest && !conditions.end_tokens.empty();
  const std::int32_t least = may_end_early && conditions.may_end_off_text ? length + 1 : longest;
  return {{least, length}, {longest, length}, may_end_early};
}

ReplayTotals replay_fixed(const ShadowTable& table, const ExitRuns& runs, std::int32_t length,
                          const ReplayConditions& conditions) {
  ReplayTotals sum;
  bool differ = false;  // until the first bounded round both sums are one
  std::int32_t root = table.first - 1;
  const PlannedRound plan{.exit = length > 0 ? runs.exit : 0, .length = length};
  for (std::int32_t round = 0; has_round(table, root); ++round) {
    const RoundState state = state_at(table, conditions, round, root);
    const std::int32_t longest = longest_draft(state, plan, conditions);
    const auto start = static_cast<std::size_t>(root + 1 - table.first);
    const std::int32_t run = start < runs.lengths.size() ? runs.lengths[start] : 0;
    // Only a round that drafts up to the end of the text asks more than the runs know.
    const bool reaches_end = root + 1 + run >= table.end() && run < longest;
    const DraftWalk outcome =
        reaches_end ? walk_draft(state, plan, conditions) : walk(runs, state, longest, conditions);
    const std::int32_t emitted = emitted_tokens(table, root, outcome.least.accepted);
    sum.may_end_early += outcome.may_end_early ? 1 : 0;
    const bool is_exact = outcome.least == outcome.most;
    if (!is_exact && !differ) {
      differ = true;
      sum.most = sum.least;
    }
    sum.bounded_rounds += is_exact ? 0 : 1;
    if (differ) add_round(sum.most, plan.exit, root, outcome.most, emitted);
    add_round(sum.least, plan.exit, root, outcome.least, emitted);
    root += outcome.least.accepted + 1;
  }
  if (differ)
    sum.status = AnswerStatus::bounded;
  else
    sum.most = sum.least;
  return sum;
}

}  // namespace

std::vector<GridCell> grid_statistics(const ShadowTable& table, std::span<const std::int32_t> exits,
                                      std::span<const std::int32_t> lengths,
                                      const ReplayConditions& conditions) {
  std::vector<GridCell> cells;
  cells.reserve(exits.size() * lengths.size());
  for (const std::int32_t exit : exits) {
    const ExitRuns runs = runs_of(table, exit, conditions);
    for (const std::int32_t length : lengths)
      cells.push_back({exit, length, replay_fixed(table, runs, length, conditions)});
  }
  return cells;
}

}  // namespace draftscope::simulator
