// SPDX-License-Identifier: GPL-3.0-or-later
// The names of enumeration values in the database, the exports and the reports.
#include <draftscope/traces/overview.h>
#include <draftscope/traces/records.h>

#include <algorithm>
#include <array>
#include <vector>

namespace draftscope::traces {

std::string_view phase_name(Phase phase) {
  static constexpr std::array<std::string_view, phase_count> names{"prefill",  "draft",   "verify", "accept",
                                                                   "optimise", "control", "sync",   "idle"};
  return names.at(static_cast<std::size_t>(phase));
}

std::string_view draft_stop_name(DraftStop stop) {
  static constexpr std::array<std::string_view, 5> names{"length", "threshold", "eos", "budget", "no_draft"};
  return names.at(static_cast<std::size_t>(stop));
}

std::string_view request_stop_name(RequestStop stop) {
  static constexpr std::array<std::string_view, 6> names{"eos",       "length", "context",
                                                         "cancelled", "error",  "stop_string"};
  return names.at(static_cast<std::size_t>(stop));
}

std::string_view lane_of_name(LaneOf lane) {
  static constexpr std::array<std::string_view, lane_of_count> names{"requests", "rounds", "decisions",
                                                                     "spans", "kernels"};
  return names.at(static_cast<std::size_t>(lane));
}

std::vector<std::int32_t> token_depths(std::span<const DraftToken> tokens) {
  std::vector<std::int32_t> depths(tokens.size(), 0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int32_t parent = tokens[i].parent;
    if (parent >= 0 && static_cast<std::size_t>(parent) < i)
      depths[i] = depths[static_cast<std::size_t>(parent)] + 1;
  }
  return depths;
}

std::int32_t tree_depth(std::span<const DraftToken> tokens) {
  const std::vector<std::int32_t> depths = token_depths(tokens);
  return depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end()) + 1;
}

}  // namespace draftscope::traces
