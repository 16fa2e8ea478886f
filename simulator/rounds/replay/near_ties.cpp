// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/near_ties.h"

namespace draftscope::simulator {

std::vector<std::int32_t> near_ties(const ShadowTable& table, float epsilon) {
  std::vector<std::int32_t> positions;
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    const ShadowCell& target = table.cell(position, table.n_layers);
    if (target.margin < epsilon || target.true_rank != 0) positions.push_back(position);
  }
  return positions;
}

ShadowTable with_near_ties(const ShadowTable& table, float epsilon, TieOutcome outcome) {
  constexpr std::int32_t no_token = -1;
  ShadowTable flipped = table;
  const auto layers = static_cast<std::size_t>(table.n_layers);
  for (const std::int32_t position : near_ties(table, epsilon)) {
    const std::int32_t text = table.text[static_cast<std::size_t>(position)];
    const std::size_t row = static_cast<std::size_t>(position - table.first) * layers;
    for (std::size_t layer = 0; layer + 1 < layers; ++layer) {
      ShadowCell& cell = flipped.cells[row + layer];
      if (outcome == TieOutcome::accepted) {
        cell.token = text;
        cell.true_rank = 0;
      } else {
        if (cell.true_rank == 0) cell.token = no_token;
        cell.true_rank = -1;  // No sibling of a tree is the text's token either.
      }
    }
  }
  return flipped;
}

}  // namespace draftscope::simulator
