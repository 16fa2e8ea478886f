// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "analysis/figures/request_rows.h"
#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

/// Layers that one draft step loads, by layer set; a layer in fewer bits counts proportionally less.
using LayersOfSet = std::unordered_map<traces::LayerSetId, double>;

double loaded_by_rounds(const RequestRows& rows, const LayersOfSet& layers_of_set, std::int32_t n_layers) {
  double loaded = 0.0;
  for (const traces::Round& round : rows.rounds) {
    const auto set = layers_of_set.find(round.layer_set_id);
    // A round without a layer set drafted nothing, or from text only (prompt lookup), unless it names its
    // exit.
    const double draft_layers = set != layers_of_set.end() ? set->second : round.exit_layer;
    loaded += round.tree_depth * draft_layers + n_layers;
  }
  return loaded;
}

/// Layers loaded according to stored sums. The sums do not name the sets of rounds, so the result is absent
/// where that matters. `share` is that of the draft's weights in all sets.
std::optional<double> loaded_by_sums(const traces::RequestSum& sum, std::optional<double> share,
                                     std::int32_t n_layers) {
  if (sum.draft_sublayers > 0 && !share) return std::nullopt;
  return share.value_or(1.0) * static_cast<double>(sum.draft_sublayers) / 2.0 +
         static_cast<double>(sum.rounds) * n_layers;
}

/// The share that all layer sets have which the run may draft with; absent if they differ.
std::optional<double> common_share(const traces::Run& run, const DraftWeights& shares,
                                   const traces::Recording& recording) {
  // Sets of several formats are drafted with by strategies that choose among drafters.
  if (speculation::strategy_row(run.strategy).has_parts()) return shares.share({});
  std::optional<double> common;
  for (const traces::LayerSet& layer_set : recording.layer_sets) {
    const double share = shares.share(layer_set.origin);
    if (common && *common != share) return std::nullopt;
    common = share;
  }
  return common.value_or(1.0);
}

}  // namespace

std::int32_t model_layers(const traces::Recording& recording) {
  for (const traces::LayerSet& layer_set : recording.layer_sets)
    if (layer_set.n_layers > 0) return layer_set.n_layers;
  const nlohmann::json shape = meta_object(recording.meta, "model_shape");
  if (!shape.contains("n_layers") || !shape["n_layers"].is_number_integer()) return 0;
  constexpr std::int64_t max_layers = 1'000'000;
  const auto layers = shape["n_layers"].get<std::int64_t>();
  return layers > 0 && layers <= max_layers ? static_cast<std::int32_t>(layers) : 0;
}

LoadedLayers loaded_layers(const RunRows& run, const traces::Recording& recording) {
  LoadedLayers result;
  result.n_layers = model_layers(recording);
  if (result.n_layers == 0) return result;
  const LoadedLayers unknown = result;
  const DraftWeights shares(*run.run, recording.meta, result.n_layers);
  const std::optional<double> share = common_share(*run.run, shares, recording);
  LayersOfSet layers_of_set;
  for (const traces::LayerSet& layer_set : recording.layer_sets) {
    const speculation::DraftSublayers kept = kept_sublayers(layer_set);
    layers_of_set.emplace(layer_set.id, shares.share(layer_set.origin) * (kept.attention + kept.mlp) / 2.0);
  }

  std::int64_t verified_tokens = 0;
  double etpl_sum = 0.0;
  std::int64_t etpl_count = 0;
  for (const RequestRows& rows : run.requests) {
    const traces::RequestSum sum = sum_of_rounds(rows);
    if (sum.rounds <= 0) continue;
    const auto loaded = rows.stored != nullptr
                            ? loaded_by_sums(sum, share, result.n_layers)
                            : std::optional(loaded_by_rounds(rows, layers_of_set, result.n_layers));
    if (!loaded) return unknown;
    result.loaded_layers += *loaded;
    const std::int64_t in_text = tokens_in_text(sum, rows.request->stop);
    verified_tokens += in_text;
    etpl_sum += static_cast<double>(in_text) / *loaded;
    ++etpl_count;
  }
  if (etpl_count == 0) return result;
  result.etpl = etpl_sum / static_cast<double>(etpl_count);
  result.etpl_pooled = static_cast<double>(verified_tokens) / result.loaded_layers;
  result.layer_count_speedup = result.n_layers * *result.etpl_pooled;
  return result;
}

}  // namespace draftscope::simulator
