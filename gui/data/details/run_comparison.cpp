// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_comparison.h"

#include <draftscope/simulator/analysis/what_is_traced.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace draftscope::gui {

namespace {

std::size_t index_of(const OpenedRecording& opened, const traces::Request& request) {
  return static_cast<std::size_t>(&request - opened.recording().requests.data());
}

/// Number of the baseline's requests (same prompt and repeat) that every other run has, too.
std::size_t count_shared(const std::vector<simulator::Pairing>& pairings) {
  std::map<const traces::Request*, std::size_t> runs_of;
  for (const simulator::Pairing& pairing : pairings)
    for (const simulator::RequestPair& pair : pairing.pairs) ++runs_of[pair.baseline];
  return static_cast<std::size_t>(std::ranges::count_if(
      runs_of, [&](const auto& request) { return request.second + 1 == pairings.size(); }));
}

/// Counts the prompts that the run decoded faster than the baseline.
void count_faster(const simulator::Pairing& pairing, RunAgainstBaseline& run) {
  for (const PromptGain& gain : prompt_gains(*run.run.recording, pairing)) {
    ++run.prompts;
    if (gain.ratio > 1.0) ++run.faster_prompts;
  }
}

}  // namespace

bool interval_and_p_disagree(const RunAgainstBaseline& run) {
  if (!run.ratio || !run.ratio->interval || !run.adjusted_p_value) return false;
  const simulator::Interval& interval = *run.ratio->interval;
  constexpr double level = 0.05;
  return (interval.low > 1.0 || interval.high < 1.0) != (*run.adjusted_p_value < level);
}

std::vector<PromptGain> prompt_gains(const OpenedRecording& opened, const simulator::Pairing& pairing) {
  struct Sums {
    double baseline_tokens = 0.0;
    double baseline_ns = 0.0;
    double tokens = 0.0;
    double ns = 0.0;
    const traces::Request* first = nullptr;
  };
  std::map<std::size_t, Sums> prompts;
  for (const simulator::RequestPair& pair : pairing.pairs) {
    if (!pair.known.wall_times) continue;
    Sums& of = prompts[pair.prompt_index];
    of.baseline_tokens += static_cast<double>(pair.baseline->tokens.size());
    of.baseline_ns += static_cast<double>(pair.baseline->end_ns - pair.baseline->start_ns);
    of.tokens += static_cast<double>(pair.comparison->tokens.size());
    of.ns += static_cast<double>(pair.comparison->end_ns - pair.comparison->start_ns);
    if (of.first == nullptr) of.first = pair.comparison;
  }
  std::vector<PromptGain> gains;
  for (const auto& [place, of] : prompts) {
    if (!(of.baseline_tokens > 0.0 && of.baseline_ns > 0.0 && of.tokens > 0.0 && of.ns > 0.0)) continue;
    const traces::Prompt* prompt = opened.prompt_of(*of.first);
    gains.push_back({.title = fmt::format(
                         "question {}{}", prompt == nullptr ? "0" : opened.question_text(*prompt),
                         prompt == nullptr || prompt->category.empty() ? "" : " (" + prompt->category + ")"),
                     .ratio = of.tokens * of.baseline_ns / (of.baseline_tokens * of.ns),
                     .request = index_of(opened, *of.first)});
  }
  return gains;
}

RunsComparison compare(const std::vector<ComparedRun>& runs, std::size_t baseline) {
  RunsComparison comparison;
  std::vector<simulator::RunRows> rows;
  for (const ComparedRun& run : runs) {
    std::vector<simulator::RunRows> all = simulator::rows_by_run(run.recording->recording());
    rows.push_back(std::move(all[run.run]));
    comparison.runs.push_back({.run = run});
  }
  if (runs.size() < 2) return comparison;
  comparison.runs[baseline].is_baseline = true;
  std::vector<simulator::Pairing> pairings(runs.size());
  std::vector<double> p_values;
  std::vector<std::size_t> tested;
  std::set<const OpenedRecording*> listed;  // recordings whose settings are compared
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == baseline) continue;
    pairings[i] =
        simulator::pair_requests(simulator::Baseline(rows[baseline]), simulator::Comparison(rows[i]));
    comparison.runs[i].ratio = simulator::speedup(pairings[i]);
    comparison.runs[i].identity = simulator::output_identity(pairings[i]);
    count_faster(pairings[i], comparison.runs[i]);
    if (comparison.runs[i].ratio && comparison.runs[i].ratio->p_value) {
      p_values.push_back(*comparison.runs[i].ratio->p_value);
      tested.push_back(i);
    }
    const OpenedRecording& other = *runs[i].recording;
    const OpenedRecording& base = *runs[baseline].recording;
    if (&other == &base || !listed.insert(&other).second) continue;
    if (const auto cost = simulator::tracing_cost(simulator::Baseline(base.recording()),
                                                  simulator::Comparison(other.recording())))
      comparison.tracing.push_back(
          fmt::format("{}: {}", (cost->is_of_comparison ? other : base).name(), cost->sentence));
    comparison.settings.emplace_back(
        other.name(), simulator::meta_differences(simulator::Baseline(base.recording().meta),
                                                  simulator::Comparison(other.recording().meta)));
  }
  const std::vector<double> adjusted = simulator::holm_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) comparison.runs[tested[i]].adjusted_p_value = adjusted[i];
  comparison.shared_requests = count_shared(pairings);
  return comparison;
}

namespace {

bool is_vanilla(const OpenedRecording& opened, std::size_t run) {
  return opened.runs()[run].run->is_baseline;
}

double speed_of(const OpenedRecording& opened, std::size_t run) {
  return opened.measured().figures.runs[run].all.throughput.tokens_per_second.value_or(0.0);
}

std::size_t color_of(const ComparedRun& run) {
  if (run.row().is_baseline) return 0;
  std::size_t place = 1;
  for (const std::size_t other : runs_by_speed(*run.recording)) {
    if (other == run.run) break;
    if (!is_vanilla(*run.recording, other)) ++place;
  }
  return place;
}

}  // namespace

std::vector<std::size_t> runs_by_speed(const OpenedRecording& opened) {
  std::vector<std::size_t> order;
  order.reserve(opened.runs().size());
  for (std::size_t run = 0; run < opened.runs().size(); ++run)
    if (opened.round_count(run) > 0) order.push_back(run);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t run) { return speed_of(opened, run); });
  return order;
}

std::size_t run_to_open(const OpenedRecording& opened) {
  for (const std::size_t run : runs_by_speed(opened))
    if (!is_vanilla(opened, run)) return run;
  return 0;
}

std::vector<ComparedRun> runs_to_compare(const RecordingPointer& opened, std::size_t count) {
  std::vector<std::size_t> order = runs_by_speed(*opened);
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t run) { return is_vanilla(*opened, run); });
  if (order.size() > count) order.resize(count);
  std::vector<ComparedRun> runs;
  runs.reserve(order.size());
  for (const std::size_t run : order) runs.push_back({opened, run});
  return runs;
}

std::vector<std::size_t> run_colors(const std::vector<ComparedRun>& runs) {
  std::vector<std::size_t> colors;
  colors.reserve(runs.size());
  for (const ComparedRun& run : runs) {
    std::size_t color = color_of(run);
    while (std::ranges::find(colors, color) != colors.end()) ++color;
    colors.push_back(color);
  }
  return colors;
}

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
