// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "analysis/figures/draft_cost_sums.h"
#include "analysis/figures/finished_requests.h"

namespace draftscope::simulator {

namespace {

using Sums = std::unordered_map<traces::RequestId, traces::RequestSum>;

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

const traces::RequestSum& sum_of(const Sums& sums, const RequestRows& rows) {
  static const traces::RequestSum none;
  const auto found = sums.find(rows.request->id);
  return found == sums.end() ? none : found->second;
}

Acceptance acceptance_of(const RunRows& run, const Sums& sums) {
  Acceptance result;
  std::int64_t emitted = 0;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum& sum = sum_of(sums, rows);
    result.rounds += sum.rounds;
    result.drafted_tokens += sum.drafted;
    result.accepted_tokens += sum.accepted;
    result.draft_steps += sum.draft_steps;
    emitted += sum.emitted;
  }
  result.acceptance_rate = ratio(result.accepted_tokens, result.drafted_tokens);
  result.step_acceptance = ratio(result.accepted_tokens, result.draft_steps);
  result.mean_accepted_length = ratio(result.accepted_tokens + result.rounds, result.rounds);
  result.emitted_per_round = ratio(emitted, result.rounds);
  result.steps_per_round = ratio(result.draft_steps, result.rounds);
  return result;
}

LoadedLayers layers_of(const RunRows& run, const Sums& sums, const traces::Recording& outline) {
  LoadedLayers result;
  result.n_layers = model_layers(outline);
  if (result.n_layers == 0) return result;
  double etpl_sum = 0.0;
  std::int64_t etpl_count = 0;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum& sum = sum_of(sums, rows);
    if (sum.rounds <= 0) continue;
    const double loaded = static_cast<double>(sum.draft_sublayers) / 2.0 +
                          static_cast<double>(sum.rounds) * static_cast<double>(result.n_layers);
    result.loaded_layers += loaded;
    result.verified_tokens += sum.accepted + sum.rounds;
    etpl_sum += static_cast<double>(sum.accepted + sum.rounds) / loaded;
    ++etpl_count;
  }
  if (etpl_count == 0) return result;
  result.etpl = etpl_sum / static_cast<double>(etpl_count);
  result.etpl_pooled = static_cast<double>(result.verified_tokens) / result.loaded_layers;
  result.layer_count_speedup = result.n_layers * *result.etpl_pooled;
  return result;
}

BaselineStep baseline_step(const RunRows& run, const RunRows& baseline, const Sums& sums) {
  std::unordered_set<const traces::Prompt*> prompts;
  for (const RequestRows& rows : run.requests) prompts.insert(rows.prompt);
  std::int64_t duration_ns = 0;
  std::int64_t between_ns = 0;
  std::int64_t rounds = 0;
  for (const RequestRows& rows : baseline.requests) {
    const traces::RequestSum& sum = sum_of(sums, rows);
    if (!prompts.contains(rows.prompt) || sum.rounds <= 0) continue;
    duration_ns += sum.rounds_ns;
    between_ns += between_rounds_ns(*rows.request, sum.rounds_ns);
    rounds += sum.rounds;
  }
  return {ratio(duration_ns, rounds).value_or(0.0), ratio(between_ns, rounds).value_or(0.0)};
}

DraftCost cost_of(const RunRows& run, const RunRows* baseline, const Sums& sums, const Acceptance& measured) {
  DraftTimes times;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum& sum = sum_of(sums, rows);
    times.draft_ns += sum.draft_ns;
    times.verify_ns += sum.verify_ns;
    times.other_ns += sum.accept_ns + sum.optimise_ns + sum.control_ns;
    if (sum.rounds > 0) times.between_ns += between_rounds_ns(*rows.request, sum.rounds_ns);
  }
  return draft_cost(times, baseline == nullptr ? BaselineStep{} : baseline_step(run, *baseline, sums),
                    measured);
}

RunBreakdown breakdown_of(const RunRows& run, const Sums& sums) {
  if (run.requests.empty()) return {};
  RunBreakdown result{BreakdownSource::rounds, {}};
  for (const RequestRows& rows : run.requests) {
    const traces::Request& request = *rows.request;
    const traces::RequestSum& sum = sum_of(sums, rows);
    std::int64_t idle_ns = request.end_ns - request.start_ns;
    const auto add = [&](traces::Phase phase, std::int64_t ns) {
      result.by_phase[static_cast<std::size_t>(phase)] += ns;
      idle_ns -= ns;
    };
    if (request.first_token_ns > 0) add(traces::Phase::prefill, request.first_token_ns - request.start_ns);
    add(traces::Phase::draft, sum.draft_ns);
    add(traces::Phase::verify, sum.verify_ns);
    add(traces::Phase::accept, sum.accept_ns);
    add(traces::Phase::optimise, sum.optimise_ns);
    add(traces::Phase::control, sum.control_ns);
    if (idle_ns < 0) return {};
    result.by_phase[static_cast<std::size_t>(traces::Phase::idle)] += idle_ns;
  }
  return result;
}

/// Nothing that is shown may overflow, whatever a damaged file claims of itself.
bool is_plausible(const traces::RequestSum& sum) {
  constexpr std::int64_t most = std::int64_t{1} << 40U;
  constexpr std::int64_t max_ns = std::int64_t{1} << 46U;
  const auto counts = {sum.rounds,  sum.drafted,     sum.accepted,
                       sum.emitted, sum.draft_steps, sum.draft_sublayers};
  const auto times = {sum.rounds_ns, sum.draft_ns,    sum.verify_ns,
                      sum.accept_ns, sum.optimise_ns, sum.control_ns};
  return std::ranges::all_of(counts, [&](std::int64_t count) { return count >= 0 && count <= most; }) &&
         std::ranges::all_of(times, [&](std::int64_t ns) { return ns >= 0 && ns <= max_ns; });
}

}  // namespace

RecordingFigures measure_overview(const traces::Recording& outline,
                                  std::span<const traces::RequestSum> stored) {
  Sums sums;
  for (const traces::RequestSum& sum : stored)
    if (is_plausible(sum)) sums.emplace(sum.request_id, sum);
  const std::vector<RunRows> runs = finished_requests(outline);
  const auto found = std::find_if(runs.begin(), runs.end(), [](const RunRows& run) {
    return run.run->is_baseline && !run.requests.empty();
  });
  const RunRows* baseline = found == runs.end() ? nullptr : &*found;
  RecordingFigures result;
  if (baseline != nullptr) result.baseline = baseline->run;
  for (const RunRows& run : runs) {
    Figures figures;
    figures.run = run.run;
    figures.throughput = throughput(run);
    figures.acceptance = acceptance_of(run, sums);
    figures.layers = layers_of(run, sums, outline);
    figures.cost = cost_of(run, baseline, sums, figures.acceptance);
    figures.breakdown = breakdown_of(run, sums);
    if (baseline != nullptr && baseline->run != run.run) {
      const Pairing pairing = pair_requests(Baseline(*baseline), Comparison(run));
      figures.speedup = speedup(pairing);
      if (!pairing.pairs.empty()) figures.identity = output_identity(pairing);
    }
    result.runs.push_back({std::move(figures), {}});
  }
  return result;
}

}  // namespace draftscope::simulator
