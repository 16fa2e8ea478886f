// SPDX-License-Identifier: GPL-3.0-or-later
#include "skip_pyramid.h"

#include <algorithm>
#include <unordered_map>

namespace draftscope::gui {

SkipPyramid::SkipPyramid(const OpenedRecording& opened, std::size_t run_index) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  std::unordered_map<traces::LayerSetId, std::uint32_t> places;
  set_of_round_.reserve(rounds.size());
  for (const std::uint32_t round_index : rounds) {
    const traces::LayerSet* set = opened.layer_set(round_index);
    if (set == nullptr) {
      set_of_round_.push_back(no_index);
      continue;
    }
    const auto [place, is_new] = places.try_emplace(set->id, static_cast<std::uint32_t>(sets_.size()));
    if (is_new) {
      LayerSetRow row{.skipped = {}, .exit_layer = set->exit_layer};
      const auto sublayers = 2 * static_cast<std::size_t>(set->n_layers);
      for (std::size_t bit = 0; bit < sublayers; ++bit)
        if (((set->skipped[bit / 8] >> (bit % 8)) & 1) != 0)
          row.skipped.push_back(static_cast<std::uint32_t>(bit));
      sublayers_ = std::max(sublayers_, sublayers);
      sets_.push_back(std::move(row));
    }
    set_of_round_.push_back(place->second);
  }
  std::uint32_t last_set = no_index;
  for (const std::uint32_t set : set_of_round_) {
    is_change_.push_back(set != no_index && last_set != no_index && set != last_set);
    if (set != no_index) last_set = set;
  }
  pyramid_ = SumPyramid<std::uint32_t>(
      sublayers_ + 2, set_of_round_.size(), block,
      [this](std::size_t place, std::span<std::uint32_t> row) { add_round(place, row); });
}

void SkipPyramid::add_round(std::size_t place, std::span<std::uint32_t> row) const {
  const std::uint32_t set = set_of_round_[place];
  if (set == no_index) return;
  for (const std::uint32_t sublayer : sets_[set].skipped) ++row[sublayer];
  ++row[sublayers_];
  row[sublayers_ + 1] += static_cast<std::uint32_t>(sets_[set].exit_layer);
}

void SkipPyramid::summarise(std::size_t first, std::size_t last, SkipSummary& into) const {
  last = std::min(last, set_of_round_.size());
  into.skipped.assign(sublayers_ + 2, 0);
  pyramid_.add(first, last, into.skipped,
               [this](std::size_t place, std::span<std::uint32_t> row) { add_round(place, row); });
  into.rounds = last > first ? last - first : 0;
  into.exit_sum = into.skipped[sublayers_ + 1];
  into.drafting = into.skipped[sublayers_];
  into.skipped.resize(sublayers_);
}

}  // namespace draftscope::gui
