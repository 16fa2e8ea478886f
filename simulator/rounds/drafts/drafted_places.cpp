// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/drafted_places.h"

#include <draftscope/base/counter_random.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace draftscope::simulator {

namespace {

constexpr std::uint64_t seed_of_places = 20261130;

struct Judged {
  double right = 0.0;
  double all = 0.0;

  [[nodiscard]] std::optional<double> share() const {
    return all > 0.0 ? std::optional(right / all) : std::nullopt;
  }
};

/// Whether a token that is right or wrong with share `from` is right with share `to`. `draw` is in [0, 1).
bool is_right_at(bool is_right, double from, double to, double draw) {
  if (is_right) return from <= to || draw * from < to;
  return to > from && draw * (1.0 - from) < to - from;
}

}  // namespace

PlaceShares place_shares(std::span<const DraftedPositions> requests) {
  Judged first;
  Judged further;
  Judged all;
  for (const DraftedPositions& positions : requests)
    for (const DraftedPosition& position : positions) {
      if (position.bit == AcceptanceBit::unseen) continue;
      const double right = position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
      for (Judged* const of : {position.depth > 1 ? &further : &first, &all}) {
        of->right += right;
        of->all += 1.0;
      }
    }
  return {first.share(), further.share(), all.share().value_or(0.0)};
}

void put_places(const DraftedPositions& positions, const PlaceShares& shares, const SeenSteps& seen,
                DraftedTable& drafted) {
  ShadowTable& table = drafted.table;
  const std::array<double, 2> asked{shares.first.value_or(shares.all), shares.further.value_or(shares.all)};
  CounterRandom random(seed_of_places, static_cast<std::uint64_t>(table.request_id.value()));
  std::vector<ShadowCell> cells;
  cells.reserve(3 * positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const DraftedPosition& position = positions[i];
    const bool is_seen = position.bit != AcceptanceBit::unseen;
    const double recorded = !is_seen ? shares.all : asked[position.depth > 1 ? 1U : 0U];
    const std::int32_t at = table.first + static_cast<std::int32_t>(i);
    const ShadowCell known = table.cell(at, drafted_layer);
    const ShadowCell target = table.cell(at, drafted_layer + 1);
    const double draw = random.uniform();
    for (const double share : asked) {
      ShadowCell cell = known;
      const bool was_right = known.true_rank == 0;
      const bool is_right = is_right_at(was_right, recorded, share, draw);
      const std::vector<float>& confidences = is_right ? seen.right : seen.wrong;
      if (is_right != was_right) {
        cell.token = is_right ? target.token : -1;
        cell.true_rank = is_right ? 0 : -1;
        if (!confidences.empty()) cell.probability = confidences[random.index(confidences.size())];
      }
      cells.push_back(cell);
    }
    cells.push_back(target);
  }
  table.cells = std::move(cells);
  table.n_layers = drafted_layer + 2;
  table.has_further_layer = true;
}

}  // namespace draftscope::simulator
