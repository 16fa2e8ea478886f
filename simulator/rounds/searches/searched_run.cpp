// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/searched_run.h"

#include <algorithm>
#include <cstdint>

namespace draftscope::simulator {

traces::LayerSet new_layer_set(const SkippedSublayers& skipped, const LayerSetsById& known) {
  std::int64_t last = 0;
  for (const auto& [id, set] : known) last = std::max(last, id.value());
  const auto n_layers = static_cast<std::int32_t>(skipped.size() / 2);
  traces::LayerSet set{.id = traces::LayerSetId::from(last + 1),
                       .n_layers = n_layers,
                       .exit_layer = n_layers,
                       .origin = "modelled"};
  set.skipped.resize((skipped.size() + 7) / 8);
  for (std::size_t bit = 0; bit < skipped.size(); ++bit)
    if (skipped[bit]) set.skipped[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
  return set;
}

SearchedRun::SearchedRun(const RunRows& recorded, const LayerSetsById& sets, const ReplayedSearch& search)
    : sets_(sets), rows_(recorded) {
  for (std::size_t request = 0; request < rows_.requests.size(); ++request) {
    RequestRows& rows = rows_.requests[request];
    std::vector<traces::Round>& rounds = rounds_.emplace_back(rows.rounds.begin(), rows.rounds.end());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const SearchedRound& searched = search.rounds[request][i];
      rounds[i].optimise_ns = searched.is_followed ? 1 : 0;
      if (searched.draft == RoundSet::known && rounds[i].layer_set_id != 0)
        rounds[i].layer_set_id = id_of(search.sets[searched.asked_set].skipped);
    }
    rows.rounds = rounds;
  }
}

traces::LayerSetId SearchedRun::id_of(const SkippedSublayers& skipped) {
  const auto found = std::ranges::find(asked_, skipped, &Asked::skipped);
  if (found != asked_.end()) return found->set.id;
  const traces::LayerSet& set = asked_.emplace_back(Asked{skipped, new_layer_set(skipped, sets_)}).set;
  sets_.emplace(set.id, &set);
  return set.id;
}

}  // namespace draftscope::simulator
