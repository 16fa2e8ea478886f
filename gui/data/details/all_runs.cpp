// SPDX-License-Identifier: GPL-3.0-or-later
#include "all_runs.h"

#include <algorithm>
#include <utility>

namespace draftscope::gui {

namespace {

using simulator::Baseline;
using simulator::Comparison;
using simulator::RunRows;

struct Rows {
  ComparedRun run;
  RunRows rows;
};

std::vector<Rows> rows_of_all(const std::vector<RecordingPointer>& opened) {
  std::vector<Rows> all;
  for (const RecordingPointer& recording : opened) {
    std::vector<RunRows> rows = simulator::rows_by_run(recording->recording());
    for (std::size_t run = 0; run < rows.size(); ++run)
      if (!rows[run].requests.empty()) all.push_back({{recording, run}, std::move(rows[run])});
  }
  return all;
}

RunStanding standing_of(const Rows& of, const Rows& baseline, const std::vector<std::string>& categories) {
  RunStanding standing{.run = of.run, .is_baseline = of.run == baseline.run};
  if (standing.is_baseline) return standing;
  const simulator::Pairing pairing = simulator::pair_requests(Baseline(baseline.rows), Comparison(of.rows));
  standing.ratio = simulator::speedup(pairing);
  standing.by_prompt = prompt_gains(*of.run.recording, pairing);
  std::stable_sort(standing.by_prompt.begin(), standing.by_prompt.end(),
                   [](const PromptGain& a, const PromptGain& b) { return a.ratio > b.ratio; });
  if (standing.ratio) standing.by_category.push_back({{}, *standing.ratio});
  for (const std::string& category : categories) {
    const RunRows base = simulator::only_category(baseline.rows, category);
    const RunRows part = simulator::only_category(of.rows, category);
    if (auto ratio = simulator::speedup(simulator::pair_requests(Baseline(base), Comparison(part))))
      standing.by_category.push_back({category, *std::move(ratio)});
  }
  return standing;
}

/// Gain on a category; 1 for the baseline, absent where there is none.
std::optional<double> gain_on(const RunStanding& standing, const std::string& category) {
  if (standing.is_baseline) return 1.0;
  for (const CategoryGain& gain : standing.by_category)
    if (gain.category == category) return gain.ratio.value;
  return std::nullopt;
}

const RunRows& rows_of(const std::vector<Rows>& all, const ComparedRun& run) {
  return std::find_if(all.begin(), all.end(), [&](const Rows& rows) { return rows.run == run; })->rows;
}

std::optional<CategoryWinner> winner_on(const AllRuns& found, const std::vector<Rows>& all,
                                        const std::string& category) {
  std::vector<std::pair<double, std::size_t>> fastest;
  for (std::size_t run = 0; run < found.runs.size(); ++run)
    if (const auto gain = gain_on(found.runs[run], category)) fastest.emplace_back(*gain, run);
  if (fastest.size() < 2) return std::nullopt;
  std::stable_sort(fastest.begin(), fastest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  CategoryWinner winner{.category = category, .run = fastest[0].second};
  RunRows first = rows_of(all, found.runs[fastest[0].second].run);
  RunRows second = rows_of(all, found.runs[fastest[1].second].run);
  if (!category.empty()) {
    first = simulator::only_category(first, category);
    second = simulator::only_category(second, category);
  }
  const auto lead = simulator::speedup(simulator::pair_requests(Baseline(second), Comparison(first)));
  winner.is_clear = lead && lead->p_value && *lead->p_value < simulator::significance_level;
  return winner;
}

}  // namespace

AllRuns all_runs(const std::vector<RecordingPointer>& opened, const ComparedRun& baseline,
                 const std::function<bool()>& should_continue) {
  const std::vector<Rows> all = rows_of_all(opened);
  const auto base =
      std::find_if(all.begin(), all.end(), [&](const Rows& rows) { return rows.run == baseline; });
  AllRuns found;
  if (base == all.end()) return found;
  if (std::vector<std::string> names = simulator::categories(base->rows); names.size() > 1)
    found.categories = std::move(names);
  for (const Rows& rows : all) {
    if (should_continue && !should_continue()) return {};
    RunStanding standing = standing_of(rows, *base, found.categories);
    if (standing.ratio || standing.is_baseline) found.runs.push_back(std::move(standing));
  }
  std::stable_sort(found.runs.begin(), found.runs.end(), [](const RunStanding& a, const RunStanding& b) {
    return gain_on(a, {}).value_or(1.0) > gain_on(b, {}).value_or(1.0);
  });
  std::vector<std::string> parts{std::string()};
  parts.insert(parts.end(), found.categories.begin(), found.categories.end());
  for (const std::string& category : parts)
    if (auto winner = winner_on(found, all, category)) found.winners.push_back(*std::move(winner));
  return found;
}

}  // namespace draftscope::gui
