// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/policy_del.h"

#include <algorithm>

namespace draftscope::simulator {

void DelPolicy::begin_request(const ShadowTable& table) {
  rule_ = speculation::DelRule({table.n_layers, options_.head_in_layers}, options_.rule);
  prompt_.clear();
  const std::int32_t window = std::min(options_.rule.prompt_window, table.prompt_tokens);
  // A window of another length has other bits: what is before it has the prefill's keys and values.
  is_certain_ = window == 0 || window == table.prompt_positions();
  if (window > table.prompt_positions()) return;
  const auto layers = static_cast<std::size_t>(table.n_layers);
  for (std::int32_t i = table.prompt_positions() - window; i < table.prompt_positions(); ++i)
    prompt_.push_back(table.prompt_cells.data() + static_cast<std::size_t>(i) * layers);
  if (!rule_.learns_before_first_round() || prompt_.empty()) return;
  learn(prompt_, table.n_layers);
  prompt_.clear();
}

void DelPolicy::plan(const RoundState& /*state*/, PlannedRound& plan) {
  if (rule_.statistics().empty()) return;
  if (options_.decides.exit) plan.exit = rule_.rests() ? 0 : rule_.exit();
  if (options_.decides.length) plan.length = rule_.length();
  if (options_.decides.threshold) plan.threshold = rule_.threshold();
}

/// The round's positions are the root's and each draft token's predictions of what comes next; up to and with
/// the first where the exit in use was wrong, or in a mix where another exit drafts, the first rejected
/// token.
void DelPolicy::observe(const ObservedRound& round) {
  const ShadowTable& table = *round.state.table;
  const bool drafts = rule_.options().exits_draft;
  const std::int32_t rows = (drafts ? round.outcome.drafted : round.outcome.accepted) + 1;
  const bool all_count = drafts && rule_.counts_all();
  const auto row_at = [&](std::int32_t position) -> const ShadowCell* {
    if (position < table.end()) return &table.cell(position, 1);
    return position == table.end() && !table.end_cells.empty() ? table.end_cells.data() : nullptr;
  };
  const auto exit = static_cast<std::size_t>(rule_.exit() - 1);
  const auto target = static_cast<std::size_t>(table.n_layers - 1);
  std::vector<const ShadowCell*> counted = std::move(prompt_);
  prompt_.clear();
  for (std::int32_t i = 0; i < rows; ++i) {
    // Behind the first wrong draft token the round's text is not the table's.
    if (i > round.outcome.accepted) {
      is_certain_ = false;
      break;
    }
    const ShadowCell* row = row_at(round.state.root_position + 1 + i);
    if (row == nullptr) {
      is_certain_ = false;
      break;
    }
    counted.push_back(row);
    if (drafts && !all_count && row[exit].token != row[target].token) break;
  }
  if (all_count && !(round.least == round.most)) is_certain_ = false;
  learn(counted, table.n_layers);
}

void DelPolicy::learn(const std::vector<const ShadowCell*>& positions, std::int32_t n_layers) {
  const auto target = static_cast<std::size_t>(n_layers - 1);
  rule_.learn(static_cast<std::int32_t>(positions.size()),
              [&](std::int32_t exit, std::int32_t position) -> speculation::ShadowToken {
                const ShadowCell* row = positions[static_cast<std::size_t>(position)];
                const ShadowCell& cell = row[static_cast<std::size_t>(exit - 1)];
                return {cell.token == row[target].token, static_cast<double>(cell.probability)};
              });
}

}  // namespace draftscope::simulator
