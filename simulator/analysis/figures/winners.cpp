// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>

#include <algorithm>
#include <utility>

namespace draftscope::simulator {

namespace {

/// The fastest of runs that are restricted to one category; `baseline` is one of them.
std::optional<Winner> winner_of(const std::vector<RunRows>& runs, std::size_t baseline) {
  std::vector<std::pair<double, std::size_t>> fastest{{1.0, baseline}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == baseline) continue;
    const auto over_vanilla = speedup(pair_requests(Baseline(runs[baseline]), Comparison(runs[i])));
    if (over_vanilla) fastest.emplace_back(over_vanilla->value, i);
  }
  if (fastest.size() < 2) return std::nullopt;
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const RunRows& first = runs[fastest[0].second];
  const RunRows& second = runs[fastest[1].second];
  return Winner{.run = first.run,
                .runner_up = second.run,
                .lead = speedup(pair_requests(Baseline(second), Comparison(first)))};
}

}  // namespace

std::vector<Winner> winners(const traces::Recording& recording) {
  const std::vector<RunRows> runs = rows_by_run(recording);
  const RunRows* baseline = baseline_of(runs);
  if (baseline == nullptr) return {};
  const auto place = static_cast<std::size_t>(baseline - runs.data());
  std::vector<Winner> all;
  if (auto winner = winner_of(runs, place)) all.push_back(std::move(*winner));
  const std::vector<std::string> names = categories(*baseline);
  if (names.size() < 2) return all;
  for (const std::string& category : names) {
    std::vector<RunRows> parts;
    parts.reserve(runs.size());
    for (const RunRows& run : runs) parts.push_back(only_category(run, category));
    if (auto winner = winner_of(parts, place)) {
      winner->category = category;
      all.push_back(std::move(*winner));
    }
  }
  return all;
}

}  // namespace draftscope::simulator
