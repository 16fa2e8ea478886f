// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/analysis/stretches.h>
#include <draftscope/traces/text_share.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace draftscope::simulator {

namespace {

using StretchKey = std::pair<const traces::Prompt*, std::int32_t>;  ///< Prompt and first token.

void add(StretchFigures& sum, const traces::Round& round, traces::RequestStop stop) {
  ++sum.rounds;
  sum.tokens += round.emitted;
  sum.drafted += round.drafted;
  sum.accepted += traces::tokens_of(round).accepted_in_text(stop);
  sum.wall_ns += round.end_ns - round.start_ns;
}

/// Adds up rounds by stretch, of all prompts and of each. `counted` limits the requests; null = all.
std::map<StretchKey, StretchFigures> sums_of(const RunRows& run, std::int32_t tokens,
                                             const std::set<const traces::Request*>* counted) {
  std::map<StretchKey, StretchFigures> sums;
  for (const RequestRows& rows : run.requests) {
    if (counted != nullptr && !counted->contains(rows.request)) continue;
    std::int32_t first_token = 1;  // The prefill's token has index 0.
    for (const traces::Round& round : rows.rounds) {
      const std::int32_t stretch = first_token / tokens * tokens;
      for (const traces::Prompt* prompt : {static_cast<const traces::Prompt*>(nullptr), rows.prompt})
        add(sums[{prompt, stretch}], round, rows.request->stop);
      first_token += round.emitted;
    }
  }
  return sums;
}

/// Adds to the run's stretches their speedups, from the requests that both runs have.
void add_speedups(std::map<StretchKey, StretchFigures>& stretches, const RunRows& run,
                  const RunRows& baseline, std::int32_t tokens) {
  std::set<const traces::Request*> paired;
  for (const RequestPair& pair : pair_requests(Baseline(baseline), Comparison(run)).pairs)
    paired.insert({pair.baseline, pair.comparison});
  const auto of_run = sums_of(run, tokens, &paired);
  const auto of_baseline = sums_of(baseline, tokens, &paired);
  for (auto& [key, figures] : stretches) {
    const auto mine = of_run.find(key);
    const auto vanilla = of_baseline.find(key);
    if (mine == of_run.end() || vanilla == of_baseline.end()) continue;
    const auto rate = mine->second.tokens_per_second();
    const auto vanilla_rate = vanilla->second.tokens_per_second();
    if (rate && vanilla_rate && *vanilla_rate > 0.0) figures.speedup = *rate / *vanilla_rate;
  }
}

}  // namespace

std::optional<double> StretchFigures::acceptance_rate() const {
  if (drafted == 0) return std::nullopt;
  return static_cast<double>(accepted) / static_cast<double>(drafted);
}

std::optional<double> StretchFigures::tokens_per_second() const {
  constexpr double ns_per_second = 1e9;
  if (wall_ns <= 0) return std::nullopt;
  return static_cast<double>(tokens) * ns_per_second / static_cast<double>(wall_ns);
}

std::vector<StretchFigures> stretches_of(const traces::Recording& recording, std::int32_t tokens) {
  const std::vector<RunRows> runs = rows_by_run(recording);
  const RunRows* baseline = baseline_of(runs);
  std::vector<StretchFigures> all;
  std::vector<StretchFigures> by_prompt;
  for (const RunRows& run : runs) {
    auto stretches = sums_of(run, tokens, nullptr);
    if (baseline != nullptr && !run.run->is_baseline) add_speedups(stretches, run, *baseline, tokens);
    const auto take = [&](const traces::Prompt* prompt, std::vector<StretchFigures>& result) {
      for (auto at = stretches.lower_bound({prompt, 0}); at != stretches.end() && at->first.first == prompt;
           ++at) {
        std::tie(at->second.run, at->second.prompt, at->second.first_token) =
            std::tuple(run.run, prompt, at->first.second);
        result.push_back(at->second);
      }
    };
    take(nullptr, all);
    for (const traces::Prompt& prompt : recording.prompts) take(&prompt, by_prompt);
  }
  all.insert(all.end(), by_prompt.begin(), by_prompt.end());
  return all;
}

}  // namespace draftscope::simulator
