// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/replay_grid.h"

#include <algorithm>

#include "rounds/replay/draft_walk.h"

namespace draftscope::simulator {

namespace {

/// Facts of each position that a walk with one exit needs.
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

/// add_round() for one exit and drafts up to one length, without looking either up in every round.
class FixedSum {
 public:
  explicit FixedSum(const PlannedRound& plan)
      : exit_(plan.exit), verify_(static_cast<std::size_t>(std::max(plan.length, 0)) + 2) {}

  void add(std::int64_t root, const DraftOutcome& outcome, std::int32_t emitted) {
    sum_.tokens += emitted;
    ++sum_.rounds;
    sum_.accepted += outcome.accepted;
    PassCount& passes = verify_[static_cast<std::size_t>(outcome.drafted) + 1];
    ++passes.passes;
    passes.context += root;
  }

  /// Draft steps follow from verifications: one of w rows has w − 1 steps, at contexts from its own on.
  [[nodiscard]] RoundStatistics statistics() const {
    RoundStatistics sum = sum_;
    sum.target_steps = verify_[1];
    DraftStatistics drafts{.exit = exit_, .steps = {}, .verify = {}};
    for (std::size_t rows = 2; rows < verify_.size(); ++rows) {
      const PassCount& passes = verify_[rows];
      if (passes.passes == 0) continue;
      const auto steps = static_cast<std::int64_t>(rows) - 1;
      sum.drafted += steps * passes.passes;
      drafts.steps.passes += steps * passes.passes;
      drafts.steps.context += steps * passes.context + passes.passes * (steps * (steps - 1) / 2);
      drafts.verify.resize(rows + 1);
      drafts.verify[rows] = passes;
    }
    if (!drafts.verify.empty()) sum.drafts.push_back(std::move(drafts));
    return sum;
  }

 private:
  std::int32_t exit_;
  RoundStatistics sum_;            // but for the passes
  std::vector<PassCount> verify_;  // [rows]; of 1 row, steps of the target
};

ReplayTotals replay_fixed(const ShadowTable& table, const ExitRuns& runs, std::int32_t length,
                          const ReplayConditions& conditions) {
  ReplayTotals sum;
  std::int32_t root = table.first - 1;
  const PlannedRound plan{.exit = length > 0 ? runs.exit : 0, .length = length};
  FixedSum least(plan);
  FixedSum most(plan);
  for (std::int32_t round_index = 0; has_round(table, root); ++round_index) {
    const RoundState state = state_at(table, conditions, round_index, root);
    const std::int32_t longest = longest_draft(state, plan, conditions);
    const auto start = static_cast<std::size_t>(root + 1 - table.first);
    const std::int32_t run = start < runs.lengths.size() ? runs.lengths[start] : 0;
    // Only a round that drafts up to the end of the text asks more than the runs know.
    const bool reaches_end = root + 1 + run >= table.end() && run < longest;
    const DraftWalk outcome =
        reaches_end ? walk_draft(state, plan, conditions) : walk(runs, state, longest, conditions);
    const std::int32_t emitted = emitted_tokens(table, root, outcome.least.accepted);
    sum.may_end_early += outcome.may_end_early ? 1 : 0;
    sum.bounded_rounds += outcome.least == outcome.most ? 0 : 1;
    least.add(root, outcome.least, emitted);
    most.add(root, outcome.most, emitted);
    root += outcome.least.accepted + 1;
  }
  sum.status = sum.bounded_rounds > 0 ? AnswerStatus::bounded : AnswerStatus::exact;
  sum.least = least.statistics();
  sum.most = sum.bounded_rounds > 0 ? most.statistics() : sum.least;
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
