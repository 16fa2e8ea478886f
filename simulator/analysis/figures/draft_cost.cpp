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

/// Step of vanilla decoding on the prompts that the run decoded too, a mean over its rounds; 0 without any.
struct BaselineStep {
  double ns = 0.0;          ///< Time of a round.
  double between_ns = 0.0;  ///< Time between rounds as in DraftCost, per round.
};

BaselineStep baseline_step(const RunRows& run, const RunRows& baseline) {
  std::unordered_set<const traces::Prompt*> prompts;
  for (const RequestRows& rows : run.requests) prompts.insert(rows.prompt);
  traces::RequestSum all;
  std::int64_t between_ns = 0;
  for (const RequestRows& rows : baseline.requests) {
    if (!prompts.contains(rows.prompt)) continue;
    const traces::RequestSum sum = sum_of_rounds(rows);
    all.rounds_ns += sum.rounds_ns;
    all.rounds += sum.rounds;
    between_ns += between_rounds_ns(*rows.request, sum);
  }
  if (all.rounds <= 0) return {};
  return {mean(all.rounds_ns, all.rounds), mean(between_ns, all.rounds)};
}

}  // namespace

DraftCost draft_cost(const RunRows& run, const RunRows* baseline, const Acceptance& measured) {
  DraftCost cost;
  cost.rounds = measured.rounds;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum sum = sum_of_rounds(rows);
    cost.draft_ns += sum.draft_ns;
    cost.verify_ns += sum.verify_ns;
    cost.other_ns += sum.accept_ns + sum.optimise_ns + sum.control_ns;
    cost.between_ns += between_rounds_ns(*rows.request, sum);
  }
  if (cost.rounds == 0) return cost;
  cost.draft_ns_per_round = mean(cost.draft_ns, cost.rounds);
  cost.verify_ns_per_round = mean(cost.verify_ns, cost.rounds);
  if (measured.draft_steps > 0) cost.draft_ns_per_step = mean(cost.draft_ns, measured.draft_steps);

  const BaselineStep step = baseline == nullptr ? BaselineStep{} : baseline_step(run, *baseline);
  cost.target_step_ns = step.ns;
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
    // Time between rounds also occurs in vanilla decoding.
    cost.closed_form_speedup = *measured.mean_accepted_length * (1.0 + step.between_ns / step.ns) /
                               (*measured.steps_per_round * cost.c.value_or(0.0) + *cost.v + *cost.o +
                                mean(cost.between_ns, cost.rounds) / step.ns);
  return cost;
}

std::optional<double> observed_tpt(const DraftCost& cost, const Acceptance& measured) {
  if (!cost.c || !cost.v || !cost.o || !measured.mean_accepted_length || !measured.steps_per_round)
    return std::nullopt;
  return *measured.mean_accepted_length / (*measured.steps_per_round * *cost.c + *cost.v + *cost.o);
}

}  // namespace draftscope::simulator
