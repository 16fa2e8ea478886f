// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/policy_del.h"

#include <algorithm>

namespace draftscope::simulator {

double ExitStatistics::threshold() const {
  if (matches <= 0.0 || mismatches <= 0.0) return -1.0;
  return 0.5 * (confidence_of_matches / matches + confidence_of_mismatches / mismatches);
}

void DelPolicy::begin_request(const ShadowTable& table) {
  exits_.assign(static_cast<std::size_t>(std::max(table.n_layers - 1, 0)), {});
  exit_ = gamma_ = 1;
  is_first_round_ = true;
  prompt_.clear();
  const std::int32_t window = std::min(options_.prompt_window, table.prompt_tokens);
  // A window of another length has other bits: what is before it has the prefill's keys and values.
  is_certain_ = window == 0 || window == table.prompt_positions();
  if (window > table.prompt_positions()) return;
  const auto layers = static_cast<std::size_t>(table.n_layers);
  for (std::int32_t i = table.prompt_positions() - window; i < table.prompt_positions(); ++i)
    prompt_.push_back(table.prompt_cells.data() + static_cast<std::size_t>(i) * layers);
  if (options_.mode == Mode::published || prompt_.empty()) return;
  count(prompt_, table.n_layers);
  prompt_.clear();
  is_first_round_ = false;
  choose(table.n_layers);
}

void DelPolicy::plan(const RoundState& state, PlannedRound& plan) {
  if (exits_.empty()) return;
  const bool is_repaired = options_.mode == Mode::repaired;
  const bool rests = is_repaired && gamma_ == 0;
  const std::int32_t exit = std::min(exit_, state.table->n_layers - 1);
  if (options_.decides.exit) plan.exit = rests ? 0 : exit;
  if (options_.decides.length) plan.length = is_repaired ? gamma_ : is_first_round_ ? 1 : options_.most;
  if (options_.decides.threshold) plan.threshold = exits_[static_cast<std::size_t>(exit - 1)].threshold();
}

/// The round's positions are the root's and each draft token's predictions of what comes next; up to and with
/// the first where the exit in use was wrong, or in a mix where another exit drafts, the first rejected
/// token.
void DelPolicy::observe(const ObservedRound& round) {
  const ShadowTable& table = *round.state.table;
  const bool drafts = options_.decides.exit;
  const std::int32_t rows = (drafts ? round.outcome.drafted : round.outcome.accepted) + 1;
  const bool all_count = drafts && options_.mode == Mode::published && gamma_ == 0;
  const auto row_at = [&](std::int32_t position) -> const ShadowCell* {
    if (position < table.end()) return &table.cell(position, 1);
    return position == table.end() && !table.end_cells.empty() ? table.end_cells.data() : nullptr;
  };
  const auto exit = static_cast<std::size_t>(exit_ - 1);
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
  count(counted, table.n_layers);
  is_first_round_ = false;
  choose(table.n_layers);
}

void DelPolicy::count(const std::vector<const ShadowCell*>& positions, std::int32_t n_layers) {
  const auto target = static_cast<std::size_t>(n_layers - 1);
  for (std::size_t exit = 0; exit < exits_.size(); ++exit) {
    ExitStatistics& statistics = exits_[exit];
    statistics.matches *= options_.omega;
    statistics.mismatches *= options_.omega;
    statistics.confidence_of_matches *= options_.omega;
    statistics.confidence_of_mismatches *= options_.omega;
    for (const ShadowCell* row : positions) {
      const auto confidence = static_cast<double>(row[exit].probability);
      const bool matches = row[exit].token == row[target].token;
      (matches ? statistics.matches : statistics.mismatches) += 1.0;
      (matches ? statistics.confidence_of_matches : statistics.confidence_of_mismatches) += confidence;
    }
  }
}

/// The largest (1 + α + … + α^d) / ((L + h) + d·(ℓ + h)); ties to the smallest ℓ, then d.
void DelPolicy::choose(std::int32_t n_layers) {
  const bool is_published = options_.mode == Mode::published;
  const double head = is_published ? 0.0 : options_.head_in_layers;
  const std::int32_t most = is_published ? options_.most - 1 : options_.most;
  exit_ = gamma_ = 1;
  double best = 0.0;
  for (std::size_t i = 0; i < exits_.size(); ++i) {
    const double alpha = exits_[i].acceptance();
    if (!(alpha >= 0.0)) continue;
    const auto exit = static_cast<std::int32_t>(i) + 1;
    double tokens = 0.0;
    double power = 1.0;
    for (std::int32_t d = 0; d <= most; ++d) {
      tokens += power;
      power *= alpha;
      const double tpl = tokens / ((n_layers + head) + d * (exit + head));
      if (!(tpl > best)) continue;
      best = tpl;
      exit_ = exit;
      gamma_ = d;
    }
  }
}

}  // namespace draftscope::simulator
