// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include "prices/plan/plan_reader.h"

namespace draftscope::simulator {

Result<ExpertLayers> ExpertLayers::read(const JsonField& config) {
  ExpertLayers layers;
  const auto number = [&](std::initializer_list<const char*> keys, std::int32_t otherwise) {
    return first_of(config, keys).integer_or(plan_width_or_none, otherwise);
  };
  DRAFTSCOPE_TRY_ASSIGN(layers.first_,
                        number({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}, 0));
  DRAFTSCOPE_TRY_ASSIGN(
      layers.step_, number({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"}, 1));
  DRAFTSCOPE_TRY_ASSIGN(layers.period_, number({"expert_layer_period"}, 1));
  DRAFTSCOPE_TRY_ASSIGN(layers.offset_, number({"expert_layer_offset"}, 0));
  for (const auto& [key, list] :
       {std::pair{"mlp_only_layers", &layers.dense_}, {"moe_layers", &layers.sparse_}})
    if (!config[key].is_null()) {
      DRAFTSCOPE_TRY_ASSIGN(*list, config[key].numbers());
    }
  if (const JsonField kinds = config["mlp_layer_types"]; !kinds.is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(layers.kinds_, kinds.texts());
  }
  if (const JsonField every = config["moe_layer_freq"]; every.value().is_array()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<double> flags, every.numbers());
    for (const double flag : flags) layers.kinds_.emplace_back(flag > 0.0 ? "sparse" : "dense");
  } else {
    DRAFTSCOPE_TRY_ASSIGN(layers.every_, every.integer_or(plan_layers, 1));
  }
  return layers;
}

bool ExpertLayers::has_experts(std::int32_t layer) const {
  const auto place = static_cast<std::size_t>(layer);
  if (!kinds_.empty()) return place < kinds_.size() && kinds_[place] == "sparse";
  if (!sparse_.empty()) return std::ranges::find(sparse_, layer) != sparse_.end();
  return layer >= first_ && step_ > 0 && (layer + 1) % step_ == 0 && layer % every_ == 0 &&
         (period_ <= 1 || layer % period_ == offset_) && std::ranges::find(dense_, layer) == dense_.end();
}

namespace {

/// Inner width of dense MLPs of families that derive it.
Result<double> dense_width_of(const JsonField& config) {
  if (config["intermediate_size_mlp"].is_null() && config["block_ff_dim"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t width,
                          config["intermediate_size"].integer_or(plan_width_or_none, 0));
    return width;
  }
  DRAFTSCOPE_TRY_ASSIGN(double width,
                        first_of(config, {"intermediate_size_mlp", "block_ff_dim"}).integer(plan_width));
  DRAFTSCOPE_TRY_ASSIGN(const bool is_adjusted, config["block_auto_adjust_ff_dim"].boolean_or(false));
  if (!is_adjusted) return width;
  DRAFTSCOPE_TRY_ASSIGN(const double factor,
                        config["block_ffn_dim_multiplier"].number_or(Range<double>{0.01, 100.0}, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(const double multiple, config["block_multiple_of"].integer_or(plan_width, 256));
  width = std::floor(factor * std::floor(2.0 * width / 3.0));
  return multiple * std::ceil(width / multiple);
}

}  // namespace

Result<MlpKinds> mlps_of(const JsonField& config, const PlannedFamily& family) {
  MlpKinds kinds;
  if (family.has(ungated_mlp)) kinds.dense.matrices = kinds.experts.matrices = 2;
  const auto width = [&](std::initializer_list<const char*> keys) {
    return first_of(config, keys).integer_or(plan_width_or_none, 0);
  };
  DRAFTSCOPE_TRY_ASSIGN(kinds.dense.dense_width, dense_width_of(config));
  // Granite's dense layers are what all rows share.
  DRAFTSCOPE_TRY_ASSIGN(const double shared_mlp, width({"shared_intermediate_size"}));
  const bool is_granite = family.model_type.starts_with("granitemoe");
  if (is_granite && shared_mlp > 0.0) kinds.dense.dense_width = shared_mlp;
  DRAFTSCOPE_TRY_ASSIGN(kinds.experts.n_experts, first_of(config, {"num_experts", "num_local_experts",
                                                                   "n_routed_experts", "moe_num_experts"})
                                                     .integer_or(Range<std::int32_t>{0, 1 << 14}, 0));
  if (kinds.experts.n_experts == 0) return kinds;
  const Range<std::int32_t> used{1, kinds.experts.n_experts};
  DRAFTSCOPE_TRY_ASSIGN(
      kinds.experts.n_used,
      first_of(config, {"num_experts_per_tok", "experts_per_token", "top_k_experts", "moe_k"}).integer(used));
  const bool has_own_width = config.has("moe_intermediate_size");
  DRAFTSCOPE_TRY_ASSIGN(
      kinds.experts.expert_width,
      config[has_own_width ? "moe_intermediate_size" : "intermediate_size"].integer(plan_width));
  DRAFTSCOPE_TRY_ASSIGN(const double shared, width({"shared_expert_intermediate_size"}));
  DRAFTSCOPE_TRY_ASSIGN(const double shared_experts,
                        first_of(config, {"n_shared_experts", "moe_num_shared_experts"})
                            .integer_or(Range<std::int32_t>{0, 1 << 14}, 0));
  DRAFTSCOPE_TRY_ASSIGN(const double of_shared, width({"moe_shared_expert_intermediate_size"}));
  const double width_of_shared = of_shared > 0.0 ? of_shared : kinds.experts.expert_width;
  kinds.experts.dense_width = shared + (is_granite ? shared_mlp : 0.0) + shared_experts * width_of_shared +
                              (family.has(shares_an_expert) ? kinds.experts.expert_width : 0.0) +
                              (family.has(mlp_beside_experts) ? kinds.dense.dense_width : 0.0);
  return kinds;
}

}  // namespace draftscope::simulator
