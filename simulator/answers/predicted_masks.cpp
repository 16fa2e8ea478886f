// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/predicted_masks.h"

namespace draftscope::simulator {

namespace {

traces::LayerSet exit_mask(std::int32_t exit, std::int32_t n_layers, std::string origin) {
  traces::LayerSet set{.n_layers = n_layers, .exit_layer = exit, .skipped = {}, .origin = std::move(origin)};
  set.skipped.assign((2 * static_cast<std::size_t>(n_layers) + 7) / 8, 0);
  for (std::int32_t bit = 2 * exit; bit < 2 * n_layers; ++bit) {
    std::uint8_t& byte = set.skipped[static_cast<std::size_t>(bit) / 8];
    byte = static_cast<std::uint8_t>(byte | (1U << (static_cast<unsigned>(bit) % 8)));
  }
  return set;
}

}  // namespace

PredictedMasks::PredictedMasks(const traces::Recording& recording, std::int32_t asked_layers)
    : asked_layers_(asked_layers) {
  for (const traces::LayerSet& set : recording.layer_sets) recorded_.emplace(set.id, &set);
}

Result<traces::LayerSet> PredictedMasks::mask_of(const StrategyRounds& rounds,
                                                 const KnownRound& round) const {
  if (round.draft_steps == 0) return traces::LayerSet{};
  const auto found = recorded_.find(round.round.layer_set_id);
  const traces::LayerSet* const recorded = found == recorded_.end() ? nullptr : found->second;
  if (recorded != nullptr && recorded->n_layers == asked_layers_) return *recorded;
  const std::string origin = recorded != nullptr ? recorded->origin : "replay";
  const auto place = static_cast<std::size_t>(round.draft) - 1;
  if (place >= rounds.drafts.size()) return exit_mask(round.draft, asked_layers_, origin);
  const speculation::DraftSublayers& sublayers = rounds.drafts[place];
  const bool was_exit = recorded == nullptr || recorded->exit_layer == round.draft;
  if (!was_exit || sublayers.attention != sublayers.mlp)
    return fail("strategy {}: which of {} layers its drafts would skip is not known, expected exits",
                rounds.strategy, asked_layers_);
  return exit_mask(sublayers.attention, asked_layers_, origin);
}

}  // namespace draftscope::simulator
