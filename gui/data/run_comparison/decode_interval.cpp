// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode_interval.h"

#include <draftscope/simulator/figures/measured_recording.h>
#include <draftscope/simulator/uncertainty/prediction.h>
#include <algorithm>
#include <map>

namespace draftscope::gui {

namespace {

bool has_decoding(const traces::Request& request) {
  return request.tokens.size() > 1 && request.first_token_ns > 0;
}

double decode_ns(const traces::Request& request) {
  return static_cast<double>(request.end_ns - request.first_token_ns);
}

}  // namespace

std::optional<simulator::Interval> decode_interval(const simulator::Pairing& pairing) {
  std::map<std::size_t, simulator::ClusterSums> prompts;
  for (const simulator::RequestPair& pair : pairing.pairs) {
    if (!has_decoding(*pair.baseline) || !has_decoding(*pair.comparison)) continue;
    prompts[pair.prompt_index].numerator += decode_ns(*pair.baseline);
    prompts[pair.prompt_index].denominator += decode_ns(*pair.comparison);
  }
  std::vector<simulator::ClusterSums> clusters;
  for (const auto& [prompt, sums] : prompts)
    if (sums.numerator > 0.0 && sums.denominator > 0.0) clusters.push_back(sums);
  const auto estimate = simulator::cluster_bootstrap(clusters, simulator::RatioMean::ratio_of_sums);
  return estimate ? estimate->interval_95 : std::nullopt;
}

std::vector<std::optional<simulator::Interval>> decode_intervals(const OpenedRecording& opened) {
  std::vector<std::optional<simulator::Interval>> all(opened.runs().size());
  if (!opened.has_rows()) return all;
  const std::vector<simulator::RunRows> rows = simulator::rows_by_run(opened.recording());
  const auto baseline = std::ranges::find_if(
      rows, [](const simulator::RunRows& run) { return run.run->is_baseline && !run.requests.empty(); });
  if (baseline == rows.end()) return all;
  for (const simulator::RunRows& run : rows) {
    if (run.run->is_baseline) continue;
    const auto place = std::ranges::find_if(
        opened.runs(), [&](const RunRounds& rounds) { return rounds.run->id == run.run->id; });
    if (place == opened.runs().end()) continue;
    all[static_cast<std::size_t>(place - opened.runs().begin())] =
        decode_interval(simulator::pair_requests(simulator::Baseline(*baseline), simulator::Comparison(run)));
  }
  return all;
}

}  // namespace draftscope::gui
