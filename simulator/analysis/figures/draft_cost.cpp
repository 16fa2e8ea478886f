// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/figures/draft_cost_sums.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace draftscope::simulator {

namespace {

double mean(std::int64_t sum, std::int64_t count) {
  return static_cast<double>(sum) / static_cast<double>(count);
}

BaselineStep baseline_step(const RunRows& run, const RunRows& baseline) {
  std::unordered_set<const traces::Prompt*> prompts;
  for (const RequestRows& rows : run.requests) prompts.insert(rows.prompt);
  std::int64_t all_ns = 0;
  std::int64_t between_ns = 0;
  std::int64_t rounds = 0;
  for (const RequestRows& rows : baseline.requests) {
    if (!prompts.contains(rows.prompt) || rows.rounds.empty()) continue;
    std::int64_t rounds_ns = 0;
    for (const traces::Round& round : rows.rounds) rounds_ns += round.end_ns - round.start_ns;
    all_ns += rounds_ns;
    between_ns += between_rounds_ns(*rows.request, rounds_ns);
    rounds += static_cast<std::int64_t>(rows.rounds.size());
  }
  return rounds > 0 ? BaselineStep{mean(all_ns, rounds), mean(between_ns, rounds)} : BaselineStep{};
}

}  // namespace

DraftCost draft_cost(const RunRows& run, const RunRows* baseline, const Acceptance& measured) {
  DraftTimes times;
  for (const RequestRows& rows : run.requests) {
    std::int64_t rounds_ns = 0;
    for (const traces::Round& round : rows.rounds) {
      rounds_ns += round.end_ns - round.start_ns;
      times.draft_ns += round.draft_ns;
      times.verify_ns += round.verify_ns;
      times.other_ns += round.accept_ns + round.optimise_ns + round.control_ns;
    }
    if (!rows.rounds.empty()) times.between_ns += between_rounds_ns(*rows.request, rounds_ns);
  }
  const bool has_step = baseline != nullptr && measured.rounds > 0;
  return draft_cost(times, has_step ? baseline_step(run, *baseline) : BaselineStep{}, measured);
}

std::int64_t between_rounds_ns(const traces::Request& request, std::int64_t rounds_ns) {
  if (request.first_token_ns <= 0) return 0;
  return std::max<std::int64_t>(request.end_ns - request.first_token_ns - rounds_ns, 0);
}

DraftCost draft_cost(const DraftTimes& times, const BaselineStep& baseline, const Acceptance& measured) {
  DraftCost cost;
  cost.rounds = measured.rounds;
  cost.draft_ns = times.draft_ns;
  cost.verify_ns = times.verify_ns;
  cost.other_ns = times.other_ns;
  cost.between_ns = times.between_ns;
  if (cost.rounds == 0) return cost;
  cost.draft_ns_per_round = mean(cost.draft_ns, cost.rounds);
  cost.verify_ns_per_round = mean(cost.verify_ns, cost.rounds);
  if (measured.draft_steps > 0) cost.draft_ns_per_step = mean(cost.draft_ns, measured.draft_steps);

  cost.target_step_ns = baseline.ns;
  if (cost.target_step_ns > 0.0) {
    cost.target_step = TargetStep::baseline_rounds;
  } else if (cost.verify_ns > 0) {
    cost.target_step = TargetStep::verification;
    cost.target_step_ns = *cost.verify_ns_per_round;
  } else {
    return cost;
  }
  if (cost.draft_ns_per_step) cost.c = *cost.draft_ns_per_step / cost.target_step_ns;
  cost.v = *cost.verify_ns_per_round / cost.target_step_ns;
  cost.o = mean(cost.other_ns, cost.rounds) / cost.target_step_ns;
  if (cost.target_step == TargetStep::baseline_rounds)
    // What lies between rounds is vanilla decoding's too.
    cost.closed_form_speedup = *measured.mean_accepted_length * (1.0 + baseline.between_ns / baseline.ns) /
                               (*measured.steps_per_round * cost.c.value_or(0.0) + *cost.v + *cost.o +
                                mean(cost.between_ns, cost.rounds) / baseline.ns);
  return cost;
}

std::optional<double> observed_tpt(const DraftCost& cost, const Acceptance& measured) {
  if (!cost.c || !cost.v || !cost.o || !measured.mean_accepted_length || !measured.steps_per_round)
    return std::nullopt;
  return *measured.mean_accepted_length / (*measured.steps_per_round * *cost.c + *cost.v + *cost.o);
}

}  // namespace draftscope::simulator
