// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace draftscope::gui {

namespace {

std::size_t index_of(const OpenedRecording& opened, const traces::Request& request) {
  return static_cast<std::size_t>(&request - opened.recording().requests.data());
}

void align(RunsComparison& comparison, const std::vector<ComparedRun>& runs, std::size_t baseline,
           const std::vector<simulator::Pairing>& pairings) {
  const OpenedRecording& base = *runs[baseline].recording;
  std::map<const traces::Request*, AlignedRequest> aligned;
  for (const simulator::Pairing& pairing : pairings)
    for (const simulator::RequestPair& pair : pairing.pairs)
      aligned[pair.baseline].requests.assign(runs.size(), no_index);
  for (auto& [request, row] : aligned) row.requests[baseline] = index_of(base, *request);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == baseline) continue;
    for (const simulator::RequestPair& pair : pairings[i].pairs) {
      AlignedRequest& row = aligned[pair.baseline];
      row.requests[i] = index_of(*runs[i].recording, *pair.comparison);
      row.is_same_text = row.is_same_text && pair.baseline->tokens == pair.comparison->tokens;
    }
  }
  for (auto& [request, row] : aligned) {
    if (std::find(row.requests.begin(), row.requests.end(), no_index) != row.requests.end()) continue;
    const traces::Prompt* prompt = base.prompt_of(*request);
    row.title =
        fmt::format("question {}, repeat {}{}", prompt == nullptr ? 0 : prompt->question_id, request->repeat,
                    prompt == nullptr || prompt->category.empty() ? "" : " (" + prompt->category + ")");
    comparison.requests.push_back(std::move(row));
  }
  std::sort(comparison.requests.begin(), comparison.requests.end(),
            [&](const AlignedRequest& a, const AlignedRequest& b) {
              return a.requests[baseline] < b.requests[baseline];
            });
}

/// Counts the prompts that the comparison decoded faster.
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
                         "question {}{}", prompt == nullptr ? 0 : prompt->question_id,
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
    if (&other != &base && !is_listed)
      comparison.settings.emplace_back(
          other.name(), simulator::meta_differences(simulator::Baseline(base.recording().meta),
                                                    simulator::Comparison(other.recording().meta)));
  }
  const std::vector<double> adjusted = simulator::holm_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) comparison.runs[tested[i]].adjusted_p_value = adjusted[i];
  align(comparison, runs, baseline, pairings);
  return comparison;
}

std::vector<std::int64_t> token_times_ns(const OpenedRecording& opened, std::size_t request_index) {
  const traces::Recording& rows = opened.recording();
  const traces::Request& request = rows.requests[request_index];
  std::vector<std::int64_t> times;
  times.reserve(request.tokens.size());
  if (request.tokens.empty()) return times;
  times.push_back(0);
  const auto first =
      std::partition_point(rows.rounds.begin(), rows.rounds.end(),
                           [&](const traces::Round& round) { return round.request_id < request.id; });
  for (auto round = first; round != rows.rounds.end() && round->request_id == request.id; ++round)
    for (std::int32_t emitted = 0; emitted < round->emitted && times.size() < request.tokens.size();
         ++emitted)
      times.push_back(std::max<std::int64_t>(0, round->end_ns - request.first_token_ns));
  return times;
}

RoundTimeSpread round_time_spread(const ComparedRun& run) {
  std::vector<std::int64_t> times_ns;
  for (const std::uint32_t round_index : run.recording->runs()[run.run].rounds) {
    const traces::Round& round = run.recording->round(round_index);
    times_ns.push_back(round.end_ns - round.start_ns);
  }
  std::sort(times_ns.begin(), times_ns.end());
  RoundTimeSpread spread;
  const std::size_t count = times_ns.size();
  if (count == 0) return spread;
  constexpr double ns_per_ms = 1e6;
  const std::size_t points = std::min(count, RoundTimeSpread::max_points);
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t rank = points == 1 ? 0 : i * (count - 1) / (points - 1);
    spread.ms.push_back(static_cast<double>(times_ns[rank]) / ns_per_ms);
    spread.share.push_back(static_cast<double>(rank + 1) / static_cast<double>(count));
  }
  const auto usual = static_cast<std::size_t>(static_cast<double>(count - 1) * 0.995);
  spread.usual_longest_ms = static_cast<double>(times_ns[usual]) / ns_per_ms;
  return spread;
}

}  // namespace draftscope::gui
