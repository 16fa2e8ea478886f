// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_comparison.h"

#include <draftscope/simulator/analysis/what_is_traced.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

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
    const bool is_listed = std::any_of(comparison.settings.begin(), comparison.settings.end(),
                                       [&](const auto& entry) { return entry.first == other.name(); });
    if (&other == &base || is_listed) continue;
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

}  // namespace draftscope::gui
