// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/known_round.h"

#include <draftscope/base/statistics.h>
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

/// Adds one step's tokens: the first continues the draft, its siblings are leaves. The sibling of rank
/// `accepted` is the text's token, if there is one.
void add_step(DraftToken first, std::int32_t siblings, std::int32_t accepted, std::int32_t text_token,
              std::vector<DraftToken>& tokens) {
  tokens.push_back(first);
  for (std::int32_t rank = 1; rank <= siblings; ++rank) {
    DraftToken sibling = first;
    sibling.index = first.index + rank;
    sibling.accepted = rank == accepted;
    sibling.token = sibling.accepted ? text_token : -1;
    tokens.push_back(sibling);
  }
}

std::vector<DraftToken> drafted_tokens(const ShadowTable& table, const ReplayedRound& round) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const DraftOutcome& outcome = round.least;
  std::vector<DraftToken> tokens;
  std::int32_t parent = -1;
  std::int32_t siblings_left = outcome.siblings;
  bool is_on_text = true;
  for (std::int32_t k = 0; k < outcome.steps(); ++k) {
    const std::int32_t position = round.root_position + 1 + k;
    DraftToken first{.index = static_cast<std::int32_t>(tokens.size()),
                     .parent = parent,
                     .token = -1,
                     .confidence = unknown,
                     .probability = unknown,
                     .tested = is_on_text};
    const ShadowCell* const cell = is_on_text ? cell_at(table, position, round.plan.exit) : nullptr;
    std::int32_t siblings = siblings_left / (outcome.steps() - k);
    std::int32_t accepted = 0;
    if (cell != nullptr) {
      first.token = cell->token;
      first.confidence = static_cast<double>(cell->probability);
      first.probability = 1.0;
      siblings = std::min(speculation::width_at(round.plan.widths, first.confidence) - 1, siblings_left);
      accepted = cell->true_rank;
    }
    first.accepted = k < outcome.accepted && accepted == 0;
    if (k + 1 == outcome.steps()) siblings = siblings_left;
    siblings_left -= siblings;
    parent = first.index;
    is_on_text = first.accepted;
    const std::int32_t text_token =
        position < table.end() ? table.text[static_cast<std::size_t>(position)] : -1;
    add_step(first, siblings, k < outcome.accepted ? accepted : 0, text_token, tokens);
  }
  return tokens;
}

/// End of the draft in the outcome with the fewest draft tokens.
DraftStop draft_stop(const ReplayedRound& round, const std::vector<DraftToken>& tokens,
                     const ReplayConditions& conditions) {
  const std::int32_t planned = round.plan.exit > 0 ? round.plan.length : 0;
  if (planned < 1) return DraftStop::no_draft;
  if (tokens.empty()) return DraftStop::budget;
  const DraftToken& last = *std::ranges::find(tokens, tokens.back().parent, &DraftToken::parent);
  if (std::find(conditions.end_tokens.begin(), conditions.end_tokens.end(), last.token) !=
      conditions.end_tokens.end())
    return DraftStop::eos;
  if (round.least.steps() == planned) return DraftStop::length;
  return last.confidence < round.plan.threshold || !(round.least == round.most) ? DraftStop::threshold
                                                                                : DraftStop::budget;
}

}  // namespace

std::int32_t bonus_token(const ShadowTable& table, const traces::Round& round) {
  const std::int32_t position = round.root_position + 1 + round.accepted;
  if (position < table.end()) return table.text[static_cast<std::size_t>(position)];
  const bool is_end = position == table.end() && !table.end_cells.empty();
  return is_end ? table.end_cells.back().token : -1;
}

KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                       const ReplayedRound& round, std::int32_t index) {
  KnownRound known;
  known.draft_tokens = drafted_tokens(table, round);
  const std::int32_t drafted = round.least.drafted;
  traces::Round& row = known.round;
  row.index = index;
  row.root_position = round.root_position;
  row.exit_layer = drafted > 0 ? round.plan.exit : 0;
  row.planned = round.plan.exit > 0 ? round.plan.length : 0;
  row.drafted = drafted;
  row.tree_depth = round.least.steps();
  row.accepted = round.least.accepted;
  row.emitted = round.emitted;
  row.verify_rows = drafted + 1;
  row.bonus_token = bonus_token(table, row);
  row.draft_stop = draft_stop(round, known.draft_tokens, conditions);
  row.threshold = round.plan.threshold;
  known.draft = row.exit_layer;
  known.draft_steps = row.tree_depth;
  if (round.least.siblings == 0) known.planned_rows = round.planned_rows;
  return known;
}

RoundTimes round_times(const KnownRound& round, const RoundPrices& prices) {
  const double root = round.round.root_position + prices.longer_context;
  RoundTimes times{.optimise_ns = prices.optimise_ns};
  double rest_ns = prices.prices.step_round_ns;
  if (round.draft == 0) {
    times.verify_ns = prices.prices.target_step.at(root);
  } else {
    const DraftPrices& price = prices.prices.drafts[static_cast<std::size_t>(round.draft)];
    const double steps = round.draft_steps;
    times.draft_ns = price.start_ns + steps * price.step.at(root) +
                     price.step.ns_per_context_row * (0.5 * steps * (steps - 1));
    // A verification of one row is a target step with a round's overhead; it has the price of two rows.
    const auto rows = static_cast<std::size_t>(std::max(round.round.verify_rows, 2));
    DraftStatistics planned;
    count_planned(planned, round.round.verify_rows, round.planned_rows);
    times.verify_ns = price.verify[rows].at(root) - price.start_ns + planned_time_ns(planned, price);
    rest_ns = prices.prices.round_ns;
  }
  times.accept_ns = prices.accept_share * rest_ns;
  times.control_ns = rest_ns - times.accept_ns;
  times.draft_ns *= prices.own.draft;
  times.verify_ns *= prices.own.verify;
  for (double* const ns : {&times.control_ns, &times.accept_ns}) *ns *= prices.own.rest;
  if (round.draft != 0) times.draft_ns += prices.beside_ns;
  return times;
}

std::vector<double> recorded_noise(std::span<const RunRows> runs, const Machine* machine) {
  std::vector<double> times;
  if (machine != nullptr && (machine->scenario.gpu || machine->costs)) return times;
  for (const RunRows& run : runs)
    if (run.run->is_baseline)
      for (const RequestRows& request : run.requests)
        for (const traces::Round& round : request.rounds)
          if (round.end_ns > round.start_ns)
            times.push_back(static_cast<double>(round.end_ns - round.start_ns));
  if (times.empty()) return times;
  const double median = upper_median(std::vector(times));
  for (double& time : times) time /= median;
  return times;
}

double recorded_accept_share(std::span<const traces::Round> rounds) {
  double accept_ns = 0.0;
  double control_ns = 0.0;
  for (const traces::Round& round : rounds) {
    accept_ns += static_cast<double>(round.accept_ns);
    control_ns += static_cast<double>(round.control_ns);
  }
  return accept_ns + control_ns > 0.0 ? accept_ns / (accept_ns + control_ns) : 1.0;
}

}  // namespace draftscope::simulator
