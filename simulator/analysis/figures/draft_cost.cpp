// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>

#include <algorithm>
#include <unordered_set>

#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

namespace {

double mean(std::int64_t sum, std::int64_t count) {
  return static_cast<double>(sum) / static_cast<double>(count);
}

/// Time from the request's first token to its end, without its rounds; 0 where these times are missing.
std::int64_t between_rounds_ns(const traces::Request& request, const traces::RequestSum& sum) {
  if (request.first_token_ns <= 0 || sum.rounds <= 0) return 0;
  return std::max<std::int64_t>(request.end_ns - request.first_token_ns - sum.rounds_ns, 0);
}

}  // namespace

std::optional<double> baseline_step_ns(const RunRows& run, const RunRows& baseline) {
  std::unordered_set<const traces::Prompt*> prompts;
  for (const RequestRows& rows : run.requests) prompts.insert(rows.prompt);
  std::int64_t rounds = 0;
  std::int64_t ns = 0;
  for (const RequestRows& rows : baseline.requests) {
    if (!prompts.contains(rows.prompt)) continue;
    const traces::RequestSum sum = sum_of_rounds(rows);
    rounds += sum.rounds;
    ns += sum.rounds_ns + between_rounds_ns(*rows.request, sum);
  }
  if (rounds <= 0 || ns <= 0) return std::nullopt;
  return mean(ns, rounds);
}

DraftCost draft_cost(const RunRows& run, const RunRows* baseline, const Acceptance& measured) {
  DraftCost cost;
  cost.rounds = measured.rounds;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum sum = sum_of_rounds(rows);
    cost.draft_ns += sum.draft_ns;
    cost.verify_ns += sum.verify_ns;
    cost.other_ns += std::max<std::int64_t>(sum.rounds_ns - sum.draft_ns - sum.verify_ns, 0);
    cost.between_ns += between_rounds_ns(*rows.request, sum);
  }
  if (cost.rounds == 0) return cost;
  cost.draft_ns_per_round = mean(cost.draft_ns, cost.rounds);
  cost.verify_ns_per_round = mean(cost.verify_ns, cost.rounds);
  if (measured.draft_steps > 0) cost.draft_ns_per_step = mean(cost.draft_ns, measured.draft_steps);

  const auto step_ns = baseline == nullptr ? std::nullopt : baseline_step_ns(run, *baseline);
  if (step_ns) {
    cost.target_step = TargetStep::baseline_rounds;
    cost.target_step_ns = *step_ns;
  } else if (cost.verify_ns > 0) {
    cost.target_step = TargetStep::verification;
    cost.target_step_ns = *cost.verify_ns_per_round;
  } else {
    return cost;
  }
  if (cost.draft_ns_per_step) cost.c = *cost.draft_ns_per_step / cost.target_step_ns;
  cost.v = *cost.verify_ns_per_round / cost.target_step_ns;
  const std::int64_t without_step_ns = cost.c ? 0 : cost.draft_ns;
  cost.o = mean(cost.other_ns + cost.between_ns + without_step_ns, cost.rounds) / cost.target_step_ns;
  if (cost.target_step == TargetStep::baseline_rounds)
    cost.closed_form_speedup = *measured.mean_accepted_length /
                               (*measured.steps_per_round * cost.c.value_or(0.0) + *cost.v + *cost.o);
  return cost;
}

std::optional<double> observed_tpt(const DraftCost& cost, const Acceptance& measured) {
  if (!cost.c || !cost.v || !cost.o || !measured.mean_accepted_length || !measured.steps_per_round)
    return std::nullopt;
  return *measured.mean_accepted_length / (*measured.steps_per_round * *cost.c + *cost.v + *cost.o);
}

}  // namespace draftscope::simulator
