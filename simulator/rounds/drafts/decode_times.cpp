// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/decode_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace draftscope::simulator {

namespace {

DecodeTimes times_of(const RequestRows& request) {
  DecodeTimes times{.all_ns = static_cast<double>(request.request->end_ns - request.request->first_token_ns)};
  for (const traces::Round& round : request.rounds) {
    times.draft_ns += static_cast<double>(round.draft_ns);
    times.verify_ns += static_cast<double>(round.verify_ns);
  }
  return times;
}

/// Decode time by repeat and prompt.
using PromptTimes = std::map<std::int32_t, std::map<traces::PromptId, double>>;

PromptTimes times_of(const RunRows& run) {
  PromptTimes times;
  for (const RequestRows& rows : run.requests) {
    const auto ns = static_cast<double>(rows.request->end_ns - rows.request->first_token_ns);
    if (!rows.rounds.empty() && ns > 0.0) times[rows.request->repeat][rows.prompt->id] = ns;
  }
  return times;
}

/// [repeat]: ln of the ratio of sums, over prompts that both have.
std::vector<double> log_ratios(const PromptTimes& run, const PromptTimes& vanilla) {
  std::vector<double> ratios;
  for (const auto& [repeat, of_run] : run) {
    const auto of_vanilla = vanilla.find(repeat);
    if (of_vanilla == vanilla.end()) continue;
    double run_ns = 0.0;
    double vanilla_ns = 0.0;
    for (const auto& [prompt, ns] : of_run)
      if (const auto same = of_vanilla->second.find(prompt); same != of_vanilla->second.end()) {
        run_ns += ns;
        vanilla_ns += same->second;
      }
    if (run_ns > 0.0 && vanilla_ns > 0.0) ratios.push_back(std::log(run_ns / vanilla_ns));
  }
  return ratios;
}

}  // namespace

DecodeTimes decode_times(const RunRows& run) {
  struct Sum {
    DecodeTimes times;
    double repeats = 0.0;
  };
  std::map<traces::PromptId, Sum> prompts;
  for (const RequestRows& request : run.requests) {
    if (request.rounds.empty() || request.request->first_token_ns <= 0) continue;
    Sum& sum = prompts[request.prompt->id];
    const DecodeTimes times = times_of(request);
    sum.times.all_ns += times.all_ns;
    sum.times.draft_ns += times.draft_ns;
    sum.times.verify_ns += times.verify_ns;
    sum.repeats += 1.0;
  }
  DecodeTimes all;
  for (const auto& [prompt, sum] : prompts) {
    all.all_ns += sum.times.all_ns / sum.repeats;
    all.draft_ns += sum.times.draft_ns / sum.repeats;
    all.verify_ns += sum.times.verify_ns / sum.repeats;
  }
  return all;
}

Drift drift_between_repeats(std::span<const RunRows> runs) {
  const auto vanilla = std::ranges::find_if(
      runs, [](const RunRows& run) { return run.run != nullptr && run.run->is_baseline; });
  if (vanilla == runs.end()) return {};
  const PromptTimes of_vanilla = times_of(*vanilla);
  double squares = 0.0;
  Drift drift;
  for (const RunRows& run : runs) {
    if (run.run->is_baseline) continue;
    const std::vector<double> ratios = log_ratios(times_of(run), of_vanilla);
    if (ratios.size() < 2) continue;
    double mean = 0.0;
    for (const double ratio : ratios) mean += ratio / static_cast<double>(ratios.size());
    for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
    drift.freedom += static_cast<double>(ratios.size()) - 1.0;
    drift.repeats = std::max(drift.repeats, static_cast<double>(ratios.size()));
  }
  if (drift.freedom > 0.0) drift.sigma = std::sqrt(squares / drift.freedom);
  return drift;
}

Drift drift_within_repeat(std::span<const MeasuredRun> runs, traces::RunId vanilla) {
  double of_vanilla = 0.0;
  double of_others = 0.0;
  double others = 0.0;
  Drift drift{.repeats = 1.0};
  for (const MeasuredRun& run : runs) {
    if (run.blocks < 2.0) continue;
    const double variance = run.relative_error * run.relative_error;
    if (run.run_id == vanilla) {
      of_vanilla = variance;
      continue;
    }
    of_others += variance;
    others += 1.0;
    drift.freedom += run.blocks - 1.0;
  }
  if (others == 0.0 || of_vanilla == 0.0) return {};
  drift.sigma = std::sqrt(of_vanilla + of_others / others);
  return drift;
}

}  // namespace draftscope::simulator
