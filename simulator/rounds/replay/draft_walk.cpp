// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/draft_walk.h"

namespace draftscope::simulator {

namespace {

/// A draft's next token, as far as the table has it.
struct Drafted {
  bool is_known = false;
  bool is_right = false;
  bool ends = false;  ///< An end token, which ends the draft.
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
    return {true, cell.true_rank == 0, ends(cell.token), cell.probability};
  }
  if (position > table.end() || table.end_cells.empty()) return {};
  const ShadowCell& cell = table.end_cells[static_cast<std::size_t>(exit - 1)];
  const bool is_right = cell.token == table.end_cells.back().token;
  return {true, is_right, is_right || ends(cell.token), cell.probability};
}

DraftWalk walk(const RoundState& state, const PlannedRound& plan, const ReplayConditions& conditions,
               std::int32_t longest, double threshold) {
  for (std::int32_t k = 0; k < longest; ++k) {
    const Drafted token = token_at(*state.table, conditions, state.root_position + 1 + k, plan.exit);
    if (!token.is_known) return {{k + 1, k + 1}, {longest, k}, false, false};
    const bool stops = token.ends || static_cast<double>(token.confidence) < threshold;
    if (token.is_right && !stops) continue;
    const std::int32_t accepted = token.is_right ? k + 1 : k;
    if (token.is_right || stops || k + 1 == longest) return {{k + 1, accepted}, {k + 1, accepted}};
    // A confident wrong token does not end the draft: one more token is certain, further ones are not.
    if (threshold > 0.0) return {{k + 2, k}, {longest, k}};
    const bool may_end_early = !conditions.end_tokens.empty();
    const std::int32_t least = may_end_early && conditions.may_end_off_text ? k + 1 : longest;
    return {{least, k}, {longest, k}, may_end_early};
  }
  return {{longest, longest}, {longest, longest}};
}

}  // namespace

RoundState state_at(const ShadowTable& table, const ReplayConditions& conditions, std::int32_t round_index,
                    std::int32_t root_position) {
  // A text without an end token ended at the budget or the context.
  const std::int32_t text_tokens = table.end() - table.prompt_tokens;
  const std::int32_t budget =
      table.ended_at_eos ? conditions.max_new_tokens : std::min(conditions.max_new_tokens, text_tokens);
  return {&table, round_index, root_position, budget - (root_position - table.prompt_tokens + 1)};
}

std::int32_t longest_draft(const RoundState& state, const PlannedRound& plan,
                           const ReplayConditions& conditions) {
  if (plan.exit < 1) return 0;
  const std::int32_t rows = conditions.context_rows - state.root_position;
  return std::max(0, std::min({plan.length, state.remaining - 1, rows - 1, conditions.verify_rows - 1}));
}

DraftWalk walk_draft(const RoundState& state, const PlannedRound& plan, const ReplayConditions& conditions) {
  const std::int32_t longest = longest_draft(state, plan, conditions);
  if (!(plan.threshold > 0.0)) return walk(state, plan, conditions, longest, -1.0);
  DraftWalk low = walk(state, plan, conditions, longest, plan.threshold - confidence_rounding);
  const DraftWalk high = walk(state, plan, conditions, longest, plan.threshold + confidence_rounding);
  if (low.least == high.least && low.most == high.most) return low;
  if (low.least.accepted == high.least.accepted && low.most.accepted == high.most.accepted) {
    low.least.drafted = std::min(low.least.drafted, high.least.drafted);
    low.most.drafted = std::max(low.most.drafted, high.most.drafted);
    return low;
  }
  DraftWalk nominal = walk(state, plan, conditions, longest, plan.threshold);
  nominal.is_near_threshold = true;
  return nominal;
}

}  // namespace draftscope::simulator
