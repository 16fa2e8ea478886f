// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/replay.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/run_specification.h"
#include "rounds/replay/policy.h"

namespace draftscope::simulator {

namespace {

Result<std::int32_t> positive(const traces::Recording& recording, const std::string& key) {
  const std::string text = meta_value(recording.meta, key);
  const auto value = parse_number<std::int32_t>(text);
  if (!value || *value < 1)
    return fail("{}: meta {} is {}, expected a positive integer", recording.path.string(), key, quote(text));
  return *value;
}

}  // namespace

std::vector<ReplayedRound> replay_rounds(const ShadowTable& table, Policy& policy,
                                         const ReplayConditions& conditions) {
  std::vector<ReplayedRound> rounds;
  bool has_lost_the_path = false;
  policy.begin_request(table);
  std::int32_t root = table.first - 1;
  while (has_round(table, root)) {
    const RoundState state = state_at(table, conditions, root);
    ReplayedRound round{.root_position = root, .plan = {}, .least = {}, .most = {}};
    const bool is_planned_exactly = policy.is_certain();
    policy.plan(state, round.plan);
    const DraftWalk walk = walk_draft(state, round.plan, conditions);
    round.least = walk.least;
    round.most = walk.most;
    round.may_end_early = walk.may_end_early;
    round.planned_rows = longest_draft(state, round.plan, conditions) + 1;
    round.emitted = emitted_tokens(table, root, walk.least.accepted);
    has_lost_the_path = has_lost_the_path || walk.is_near_threshold;
    if (has_lost_the_path || !is_planned_exactly)
      round.status = AnswerStatus::approximate;
    else if (!(walk.least == walk.most))
      round.status = AnswerStatus::bounded;
    policy.observe({state, round.plan, walk.least, walk.least, walk.most, round.planned_rows});
    root += walk.least.accepted + 1;
    rounds.push_back(round);
  }
  return rounds;
}

void add_round(RoundStatistics& statistics, std::int32_t exit, std::int32_t root_position,
               const DraftOutcome& outcome, std::int32_t emitted, std::int32_t planned_rows,
               std::int32_t extra_rows) {
  statistics.tokens += emitted;
  ++statistics.rounds;
  statistics.drafted += outcome.drafted;
  statistics.accepted += outcome.accepted;
  if (outcome.drafted < 1 && extra_rows < 1) {
    ++statistics.target_steps.passes;
    statistics.target_steps.context += root_position;
    return;
  }
  const bool is_chain = outcome.siblings == 0;
  add_passes(statistics, exit, root_position, outcome.steps(), outcome.drafted + extra_rows + 1,
             is_chain ? planned_rows : 0);
}

ReplayTotals totals(std::span<const ReplayedRound> rounds) {
  ReplayTotals sum;
  for (const ReplayedRound& round : rounds) {
    sum.status = std::max(sum.status, round.status);
    sum.bounded_rounds += round.status == AnswerStatus::bounded ? 1 : 0;
    sum.approximate_rounds += round.status == AnswerStatus::approximate ? 1 : 0;
    add_round(sum.least, round.plan.exit, round.root_position, round.least, round.emitted,
              round.planned_rows);
    add_round(sum.most, round.plan.exit, round.root_position, round.most, round.emitted, round.planned_rows);
  }
  return sum;
}

std::vector<ReplayTotals> replay(std::span<const ShadowTable> tables, Policy& policy,
                                 const ReplayConditions& conditions) {
  std::vector<ReplayTotals> all;
  all.reserve(tables.size());
  for (const ShadowTable& table : tables) all.push_back(totals(replay_rounds(table, policy, conditions)));
  return all;
}

std::vector<PassCount> vanilla_steps(std::span<const ShadowTable> tables,
                                     const ReplayConditions& conditions) {
  NoDraft nothing;
  std::vector<PassCount> steps;
  for (const ReplayTotals& request : replay(tables, nothing, conditions))
    steps.push_back(request.least.target_steps);
  return steps;
}

Result<ReplayConditions> replay_conditions(const traces::Recording& recording) {
  ReplayConditions conditions;
  DRAFTSCOPE_TRY_ASSIGN(conditions.max_new_tokens, positive(recording, "max_tokens"));
  DRAFTSCOPE_TRY_ASSIGN(conditions.context_rows, positive(recording, "cache_rows"));
  const nlohmann::json shape = meta_object(recording.meta, "model_shape");
  const auto tokens = shape.find("eos_tokens");
  if (tokens == shape.end() || !tokens->is_array())
    return fail("{}: meta model_shape has no list eos_tokens, expected one", recording.path.string());
  for (const nlohmann::json& token : *tokens) {
    if (!token.is_number_integer())
      return fail("{}: meta model_shape: eos_tokens holds another element, expected integers",
                  recording.path.string());
    conditions.end_tokens.push_back(token.get<std::int32_t>());
  }
  return conditions;
}

}  // namespace draftscope::simulator
