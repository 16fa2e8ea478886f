// SPDX-License-Identifier: GPL-3.0-or-later
#include "skip_pyramid.h"

#include <algorithm>
#include <unordered_map>

namespace draftscope::gui {

namespace {

constexpr std::size_t fan_out = 8;

}  // namespace

SkipPyramid::SkipPyramid(const OpenedRecording& opened, std::size_t run) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run].rounds;
  std::unordered_map<std::int64_t, std::uint32_t> places;
  set_of_round_.reserve(rounds.size());
  for (const std::uint32_t round : rounds) {
    const traces::LayerSet* set = opened.layer_set(round);
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
  SkipSummary sum;
  for (std::size_t width = block; set_of_round_.size() / width > 0; width *= fan_out) {
    Level level{.width = width, .skipped = {}, .drafting = {}, .exit_sum = {}};
    for (std::size_t first = 0; first + width <= set_of_round_.size(); first += width) {
      summarise(first, first + width, sum);
      level.skipped.insert(level.skipped.end(), sum.skipped.begin(), sum.skipped.end());
      level.drafting.push_back(static_cast<std::uint32_t>(sum.drafting));
      level.exit_sum.push_back(sum.exit_sum);
    }
    levels_.push_back(std::move(level));
  }
}

void SkipPyramid::add_round(std::size_t place, SkipSummary& into) const {
  const std::uint32_t set = set_of_round_[place];
  if (set == no_index) return;
  ++into.drafting;
  into.exit_sum += sets_[set].exit_layer;
  for (const std::uint32_t sublayer : sets_[set].skipped) ++into.skipped[sublayer];
}

void SkipPyramid::summarise(std::size_t first, std::size_t last, SkipSummary& into) const {
  last = std::min(last, set_of_round_.size());
  into.rounds = last > first ? last - first : 0;
  into.drafting = 0;
  into.exit_sum = 0.0;
  into.skipped.assign(sublayers_, 0);
  while (first < last) {
    const Level* widest = nullptr;
    for (const Level& level : levels_)
      if (first % level.width == 0 && first + level.width <= last) widest = &level;
    if (widest == nullptr) {
      add_round(first++, into);
      continue;
    }
    const std::size_t node = first / widest->width;
    into.drafting += widest->drafting[node];
    into.exit_sum += widest->exit_sum[node];
    const std::uint32_t* counts = widest->skipped.data() + node * sublayers_;
    for (std::size_t sublayer = 0; sublayer < sublayers_; ++sublayer)
      into.skipped[sublayer] += counts[sublayer];
    first += widest->width;
  }
}

}  // namespace draftscope::gui
