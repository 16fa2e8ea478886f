// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/decode_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

namespace {

double decode_ns(const RequestRows& rows) {
  return static_cast<double>(rows.request->end_ns - rows.request->first_token_ns);
}

/// [request]: vanilla decoding's steps for the text of the prompt's first repeat / those for its own; 1 where
/// the repeats have the same text, 0 without rounds.
std::vector<double> length_ratios(const RunRows& run) {
  std::map<traces::PromptId, double> first;
  std::vector<double> ratios;
  ratios.reserve(run.requests.size());
  for (const RequestRows& rows : run.requests) {
    double& ratio = ratios.emplace_back(0.0);
    if (rows.rounds.empty()) continue;
    const std::int64_t passes = vanilla_steps_of(rows, emitted_tokens(rows)).passes;
    const auto steps = static_cast<double>(std::max<std::int64_t>(passes, 1));
    ratio = first.try_emplace(rows.prompt->id, steps).first->second / steps;
  }
  return ratios;
}

/// Decode time by repeat and prompt, for texts as long as the first repeat's.
using PromptTimes = std::map<std::int32_t, std::map<traces::PromptId, double>>;

PromptTimes times_of(const RunRows& run) {
  PromptTimes times;
  const std::vector<double> ratios = length_ratios(run);
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const RequestRows& rows = run.requests[i];
    const double ns = ratios[i] * decode_ns(rows);
    if (ns > 0.0) times[rows.request->repeat][rows.prompt->id] = ns;
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
  const std::vector<double> ratios = length_ratios(run);
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const RequestRows& rows = run.requests[i];
    if (rows.rounds.empty() || rows.request->first_token_ns <= 0) continue;
    Sum& sum = prompts[rows.prompt->id];
    sum.times.all_ns += ratios[i] * decode_ns(rows);
    for (const traces::Round& round : rows.rounds) {
      sum.times.draft_ns += ratios[i] * static_cast<double>(round.draft_ns);
      sum.times.verify_ns += ratios[i] * static_cast<double>(round.verify_ns);
    }
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
