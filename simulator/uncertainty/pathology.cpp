// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <draftscope/base/statistics.h>
#include <functional>
#include <iterator>

#include "uncertainty/prediction_pathology.h"

namespace draftscope::simulator {

namespace {

constexpr std::size_t longest_period = 64;
constexpr std::size_t min_passes = 4;
constexpr std::size_t min_loop_tokens = 32;
constexpr std::size_t requests_in_one_percent = 100;

double share_of(double part, double whole) {
  return whole > 0.0 ? part / whole : 0.0;
}

}  // namespace

RepetitionLoop repetition_loop(std::span<const std::int32_t> tokens) {
  RepetitionLoop longest;
  for (std::size_t period = 1; period <= std::min(longest_period, tokens.size() / min_passes); ++period) {
    std::size_t first = tokens.size() - period;
    while (first > 0 && tokens[first - 1] == tokens[first - 1 + period]) --first;
    const std::size_t length = tokens.size() - first;
    if (length >= std::max(min_passes * period, min_loop_tokens) && length > longest.tokens)
      longest = {.tokens = length, .period = period};
  }
  return longest;
}

Pathology find_pathology(std::span<const std::vector<std::int32_t>> outputs) {
  Pathology pathology;
  if (outputs.empty()) return pathology;
  std::vector<std::size_t> lengths;
  std::transform(outputs.begin(), outputs.end(), std::back_inserter(lengths),
                 [](const std::vector<std::int32_t>& output) { return output.size(); });
  const double runaway =
      runaway_lengths * std::max(static_cast<double>(upper_median(std::vector(lengths))), 1.0);
  double all = 0.0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto length = static_cast<double>(lengths[i]);
    all += length;
    if (length > 0.0 &&
        static_cast<double>(repetition_loop(outputs[i]).tokens) >= degenerate_loop_share * length)
      pathology.loops.push_back(i);
    if (length >= runaway) pathology.runaways.push_back(i);
  }
  double degenerate = 0.0;
  for (const std::size_t i : degenerate_requests(pathology)) degenerate += static_cast<double>(lengths[i]);
  pathology.degenerate_share = share_of(degenerate, all);

  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  const std::size_t top = (lengths.size() + requests_in_one_percent - 1) / requests_in_one_percent;
  double held = 0.0;
  for (std::size_t i = 0; i < top; ++i) held += static_cast<double>(lengths[i]);
  pathology.top_share = share_of(held, all);
  // With fewer than a hundred requests the longest of them is more than 1 % and holds more by right.
  const bool is_top_heavy =
      lengths.size() >= requests_in_one_percent && pathology.top_share > suspicious_top_share;
  pathology.is_flagged = is_top_heavy || pathology.degenerate_share > suspicious_top_share;
  return pathology;
}

std::vector<std::size_t> degenerate_requests(const Pathology& pathology) {
  std::vector<std::size_t> requests;
  std::set_union(pathology.loops.begin(), pathology.loops.end(), pathology.runaways.begin(),
                 pathology.runaways.end(), std::back_inserter(requests));
  return requests;
}

}  // namespace draftscope::simulator
