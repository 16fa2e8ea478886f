// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <numeric>

namespace draftscope::simulator {

namespace {

constexpr double ns_per_second = 1e9;

TimeSummary summarise(std::vector<double> times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  TimeSummary summary;
  summary.mean_ns =
      std::accumulate(times_ns.begin(), times_ns.end(), 0.0) / static_cast<double>(times_ns.size());
  summary.minimum_ns = times_ns.front();
  summary.maximum_ns = times_ns.back();
  summary.median_ns = mean_median(times_ns);  // Comes last, since it reorders the times.
  return summary;
}

}  // namespace

Throughput throughput(const RunRows& run) {
  Throughput result;
  result.requests = static_cast<std::int64_t>(run.requests.size());
  result.unfinished_requests = run.unfinished_requests;
  std::int64_t tokens_after_first = 0;
  std::vector<double> first_token_ns;
  for (const RequestRows& rows : run.requests) {
    const traces::Request& request = *rows.request;
    const auto tokens = static_cast<std::int64_t>(request.tokens.size());
    result.output_tokens += tokens;
    result.wall_ns += request.end_ns - request.start_ns;
    if (request.first_token_ns <= 0) continue;
    first_token_ns.push_back(static_cast<double>(request.first_token_ns - request.start_ns));
    if (tokens == 0) continue;
    tokens_after_first += tokens - 1;
    result.decode_ns += request.end_ns - request.first_token_ns;
  }
  if (result.wall_ns > 0)
    result.tokens_per_second =
        static_cast<double>(result.output_tokens) * ns_per_second / static_cast<double>(result.wall_ns);
  if (result.decode_ns > 0 && tokens_after_first > 0)
    result.decode_tokens_per_second =
        static_cast<double>(tokens_after_first) * ns_per_second / static_cast<double>(result.decode_ns);
  if (!first_token_ns.empty()) result.time_to_first_token = summarise(std::move(first_token_ns));
  return result;
}

}  // namespace draftscope::simulator
