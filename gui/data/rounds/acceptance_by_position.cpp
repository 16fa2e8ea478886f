// SPDX-License-Identifier: GPL-3.0-or-later
#include "acceptance_by_position.h"

#include <draftscope/traces/text_share.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

constexpr std::size_t acceptance_rounds_per_block = 64;
constexpr std::size_t counts_per_position = 3;

}  // namespace

AcceptanceByPosition::AcceptanceByPosition(const OpenedRecording& opened, std::size_t run_index) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  paths_.reserve(rounds.size());
  std::size_t deepest = 0;
  for (const std::uint32_t round_index : rounds) {
    const traces::Round& round = opened.round(round_index);
    const auto counted = [](std::int64_t tokens) {
      return static_cast<std::uint8_t>(std::clamp<std::int64_t>(tokens, 0, max_positions));
    };
    const traces::RequestStop stop = opened.request_of(round_index).stop;
    const traces::RoundTokens tokens = traces::tokens_of(round);
    paths_.push_back(
        {counted(round.tree_depth), counted(tokens.accepted_in_text(stop)), counted(tokens.in_text(stop))});
    deepest = std::max<std::size_t>(deepest, paths_.back().steps);
  }
  pyramid_ = SumPyramid<std::uint32_t>(
      counts_per_position * deepest, paths_.size(), acceptance_rounds_per_block,
      [this](std::size_t place, std::span<std::uint32_t> row) { add_round(place, row); });
}

void AcceptanceByPosition::add_round(std::size_t place, std::span<std::uint32_t> row) const {
  const Path& path = paths_[place];
  for (std::size_t position = 0; position < path.steps; ++position) {
    ++row[counts_per_position * position];
    row[counts_per_position * position + 1] += position < path.reached ? 1 : 0;
    row[counts_per_position * position + 2] += position < path.accepted ? 1 : 0;
  }
}

std::vector<simulator::PositionAcceptance> AcceptanceByPosition::count(std::size_t first,
                                                                       std::size_t last) const {
  std::vector<std::uint32_t> row(pyramid_.width());
  pyramid_.add(first, last, row,
               [this](std::size_t place, std::span<std::uint32_t> into) { add_round(place, into); });
  std::vector<simulator::PositionAcceptance> counts(row.size() / counts_per_position);
  for (std::size_t position = 0; position < counts.size(); ++position)
    counts[position] = {.drafted = row[counts_per_position * position],
                        .reached = row[counts_per_position * position + 1],
                        .accepted = row[counts_per_position * position + 2]};
  return counts;
}

}  // namespace draftscope::gui
