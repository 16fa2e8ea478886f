// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/statistics.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/traces/text_share.h>
#include <algorithm>
#include <numeric>

#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

namespace {

// Longer drafts share the last entry. No strategy drafts nearly as many; a damaged file may claim to.
constexpr std::int32_t longest_counted_draft = 4096;

double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

std::optional<double> ratio_if_any(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::nullopt;
  return ratio(part, whole);
}

/// Counts positions. The accepted path passes positions 0 … accepted−1, and the position after it is the
/// rejected one, unless the text ended before it: then the round has as many tokens in the text as accepted.
void count_positions(std::vector<PositionAcceptance>& by_position, const traces::Round& round,
                     traces::RequestStop stop) {
  const std::int32_t steps = std::min(round.tree_depth, longest_counted_draft);
  const traces::RoundTokens tokens = traces::tokens_of(round);
  if (steps > 0 && by_position.size() < static_cast<std::size_t>(steps))
    by_position.resize(static_cast<std::size_t>(steps));
  for (std::int32_t k = 0; k < steps; ++k) {
    PositionAcceptance& position = by_position[static_cast<std::size_t>(k)];
    ++position.drafted;
    if (k < tokens.in_text(stop)) ++position.reached;
    if (k < tokens.accepted_in_text(stop)) ++position.accepted;
  }
}

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

double PositionAcceptance::of_drafted() const {
  return ratio(accepted, drafted);
}
double PositionAcceptance::of_reached() const {
  return ratio(accepted, reached);
}

Acceptance acceptance(const RunRows& run) {
  Acceptance result;
  std::int64_t emitted = 0;
  std::int64_t in_text = 0;
  std::int64_t tested = 0;
  for (const RequestRows& rows : run.requests) {
    tested = tested < 0 || rows.tested_tokens < 0 ? -1 : tested + rows.tested_tokens;
    const traces::RequestSum sum = sum_of_rounds(rows);
    result.rounds += sum.rounds;
    result.drafted_tokens += sum.drafted;
    result.accepted_tokens += sum.accepted;
    result.draft_steps += sum.draft_steps;
    emitted += sum.emitted;
    in_text += tokens_in_text(sum, rows.request->stop);
    for (const traces::Round& round : rows.rounds) {
      count_positions(result.by_position, round, rows.request->stop);
      const auto length = static_cast<std::size_t>(std::clamp(round.tree_depth, 0, longest_counted_draft));
      if (result.draft_lengths.size() <= length) result.draft_lengths.resize(length + 1);
      ++result.draft_lengths[length];
      if (const auto stop = static_cast<std::size_t>(round.draft_stop); stop < result.draft_stops.size())
        ++result.draft_stops[stop];
    }
  }
  result.acceptance_rate = ratio_if_any(result.accepted_tokens, result.drafted_tokens);
  result.step_acceptance = ratio_if_any(result.accepted_tokens, result.draft_steps);
  result.tested_rate = ratio_if_any(result.accepted_tokens, tested);
  result.mean_accepted_length = ratio_if_any(in_text, result.rounds);
  result.emitted_per_round = ratio_if_any(emitted, result.rounds);
  result.steps_per_round = ratio_if_any(result.draft_steps, result.rounds);
  return result;
}

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
