// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/replay.h"

#include <draftscope/base/counter_random.h>

namespace draftscope::simulator {

namespace {

/// A draft's next token, as far as the table has it.
struct Drafted {
  bool is_known = false;
  bool ends = false;       ///< An end token, which ends the draft.
  std::int32_t rank = -1;  ///< Rank of the text's token in the draft's prediction; 0 = it was drafted.
  float confidence = 0.0F;
};

Drafted token_at(const ShadowTable& table, const ReplayConditions& conditions, std::int32_t position,
                 std::int32_t exit) {
  const auto ends = [&](std::int32_t token) {
    return std::find(conditions.end_tokens.begin(), conditions.end_tokens.end(), token) !=
           conditions.end_tokens.end();
  };
  if (position < table.end()) {
    const ShadowCell& cell = table.cell(position, exit);
    return {true, ends(cell.token), cell.true_rank, cell.probability};
  }
  if (position > table.end() || table.end_cells.empty() || table.ended_at_string) return {};
  const ShadowCell& cell = table.end_cells[static_cast<std::size_t>(exit - 1)];
  const bool is_right = cell.token == table.end_cells.back().token;
  return {true, is_right || ends(cell.token), is_right ? 0 : cell.true_rank, cell.probability};
}

/// Limits and widths of a draft's steps.
struct Steps {
  std::span<const speculation::BranchWidth> widths;
  std::int32_t longest = 0;  ///< Steps.
  std::int32_t nodes = 0;    ///< Draft tokens.
  double threshold = -1.0;

  [[nodiscard]] std::int32_t widest() const {
    std::int32_t width = 1;
    for (const speculation::BranchWidth& branch : widths) width = std::max(width, branch.width);
    return width;
  }
  [[nodiscard]] std::int32_t narrowest() const {
    std::int32_t width = widest();
    for (const speculation::BranchWidth& branch : widths) width = std::min(width, branch.width);
    return width;
  }
  /// Adds a step to the draft, as far as there is room, and returns its width.
  std::int32_t add(std::int32_t width, DraftOutcome& draft) const {
    const std::int32_t kept = std::clamp(width, 0, std::max(nodes - draft.drafted, 0));
    draft.drafted += kept;
    draft.siblings += std::max(kept - 1, 0);
    return kept;
  }
  [[nodiscard]] DraftOutcome with(DraftOutcome draft, std::int32_t steps, std::int32_t width) const {
    for (std::int32_t i = 0; i < steps; ++i) add(width, draft);
    return draft;
  }
};

/// A draft that goes on after a wrong token, at step `step`: by drawn confidences, or between bounds.
DraftWalk walk_off_text(const RoundState& state, const Steps& steps, const ReplayConditions& conditions,
                        std::int32_t step, DraftOutcome draft) {
  const std::int32_t left = steps.longest - step;
  const std::span<const float> seen = state.table->off_text;
  if (!seen.empty()) {
    constexpr std::uint64_t seed = 20261128;
    CounterRandom random(seed, static_cast<std::uint64_t>(state.root_position));
    for (std::int32_t i = 0; i < left; ++i) {
      const auto confidence = static_cast<double>(seen[random.index(seen.size())]);
      steps.add(speculation::width_at(steps.widths, confidence), draft);
      if (confidence < steps.threshold) break;
    }
    return {draft, draft};
  }
  const DraftOutcome most = steps.with(draft, left, steps.widest());
  // A confident wrong token does not end the draft: one more token is certain, further ones are not.
  if (steps.threshold > 0.0) return {steps.with(draft, 1, steps.narrowest()), most};
  return {steps.with(draft, left, steps.narrowest()), most, !conditions.end_tokens.empty()};
}

DraftWalk walk(const RoundState& state, const PlannedRound& plan, const ReplayConditions& conditions,
               const Steps& steps) {
  DraftOutcome draft;
  for (std::int32_t k = 0; k < steps.longest && draft.drafted < steps.nodes; ++k) {
    const std::int32_t further = k > 0 && state.table->has_further_layer ? 1 : 0;
    const Drafted token =
        token_at(*state.table, conditions, state.root_position + 1 + k, plan.exit + further);
    if (!token.is_known && state.table->ended_at_string)
      return walk_off_text(state, steps, conditions, k, draft);
    if (!token.is_known) {
      DraftOutcome ended = steps.with(draft, 1, steps.narrowest());
      ended.accepted = k + 1;
      return {ended, steps.with(draft, steps.longest - k, steps.widest())};
    }
    const auto confidence = static_cast<double>(token.confidence);
    const std::int32_t width = steps.add(speculation::width_at(steps.widths, confidence), draft);
    const bool is_right = token.rank == 0;
    const bool is_kept = token.rank >= 0 && token.rank < width;
    draft.accepted = is_kept ? k + 1 : k;
    const bool stops = token.ends || confidence < steps.threshold;
    if (is_right && !stops) continue;
    if (is_right || stops || k + 1 == steps.longest) return {draft, draft};
    return walk_off_text(state, steps, conditions, k + 1, draft);
  }
  return {draft, draft};
}

}  // namespace

RoundState state_at(const ShadowTable& table, const ReplayConditions& conditions,
                    std::int32_t root_position) {
  // A text without an end token or a stop string ended at the budget or the context.
  const std::int32_t text_tokens = table.end() - table.prompt_tokens;
  const std::int32_t budget = table.ended_at_eos || table.ended_at_string
                                  ? conditions.max_new_tokens
                                  : std::min(conditions.max_new_tokens, text_tokens);
  return {&table, root_position, budget - (root_position - table.prompt_tokens + 1)};
}

std::int32_t longest_draft(const RoundState& state, const PlannedRound& plan,
                           const ReplayConditions& conditions) {
  if (plan.exit < 1) return 0;
  const std::int32_t rows = conditions.context_rows - state.root_position;
  return std::max(0, std::min({plan.length, state.remaining - 1, rows - 1, conditions.verify_rows - 1}));
}

DraftWalk walk_draft(const RoundState& state, const PlannedRound& plan, const ReplayConditions& conditions) {
  const std::int32_t rows = std::min(conditions.verify_rows, conditions.context_rows - state.root_position);
  Steps steps{.widths = plan.widths,
              .longest = longest_draft(state, plan, conditions),
              .nodes = std::max(rows - 1, 0)};
  if (!(plan.threshold > 0.0)) return walk(state, plan, conditions, steps);
  const auto walk_to = [&](double threshold) {
    steps.threshold = threshold;
    return walk(state, plan, conditions, steps);
  };
  DraftWalk low = walk_to(plan.threshold - confidence_rounding);
  const DraftWalk high = walk_to(plan.threshold + confidence_rounding);
  if (low.least == high.least && low.most == high.most) return low;
  if (low.least.accepted == high.least.accepted && low.most.accepted == high.most.accepted) {
    if (high.least.drafted < low.least.drafted) low.least = high.least;
    if (high.most.drafted > low.most.drafted) low.most = high.most;
    return low;
  }
  DraftWalk nominal = walk_to(plan.threshold);
  nominal.is_near_threshold = true;
  return nominal;
}

}  // namespace draftscope::simulator
