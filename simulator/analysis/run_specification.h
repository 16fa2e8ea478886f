// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/measured_kernel.h>
#include <draftscope/speculation/next_token_name.h>
#include <draftscope/speculation/weight_format.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace draftscope::simulator {

/// Strategy that a run recorded, with its parameters. For a run that names a policy file, it is the strategy
/// that the policy contains. Errors: a strategy that the catalogue does not have, as imported runs may.
[[nodiscard]] Result<speculation::StrategySpecification> run_specification(const traces::Run& run,
                                                                           std::int32_t n_layers);

/// Parameters that a specification gives, in order: "layerskip:exit=4,gamma=6" has ("exit", "4") and
/// ("gamma", "6"). They point into it.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> given_parameters(
    std::string_view specification);

/// Whether verifications of the run's drafts ran only the layers above the exit, by the parameter "verify" of
/// the run or of the strategy inside a tuned one. Without the parameter they ran all layers.
[[nodiscard]] bool verifies_above_exit(const traces::Run& run);

/// Weights of their own that a run's drafts read; none where drafts use the target's weights or as many bits,
/// or where the recording does not say. Where a run drafts with several kinds of weights (`auto`),
/// a layer set's origin names them; otherwise the run's specification does.
class DraftWeights {
 public:
  DraftWeights(const traces::Run& run, const traces::Meta& meta, std::int32_t n_layers);
  /// Format for drafts with a layer set of this `origin`.
  [[nodiscard]] std::optional<speculation::WeightFormat> format(std::string_view origin) const;
  /// Bits of that format / bits of the target's weights; 1 on the target's weights.
  [[nodiscard]] double share(std::string_view origin) const;

 private:
  std::optional<speculation::WeightFormat> of_run_;
  double target_bits_ = 0.0;  // 0 = not recorded
};

using LayerSetsById = std::unordered_map<traces::LayerSetId, const traces::LayerSet*>;

/// Layer sets of a recording, which must outlive the result.
[[nodiscard]] LayerSetsById layer_sets_by_id(const traces::Recording& recording);

/// Whether the set leaves out a sublayer: 2 · layer is its attention, 2 · layer + 1 its MLP.
[[nodiscard]] bool is_skipped(const traces::LayerSet& set, std::int32_t sublayer);

/// Numbers of sublayers that the set leaves in, on the target's weights.
[[nodiscard]] speculation::DraftSublayers kept_sublayers(const traces::LayerSet& set);

/// Sublayers and weights of a draft with the set; without a set (null) no model drafts.
[[nodiscard]] speculation::DraftSublayers draft_with(const traces::LayerSet* set,
                                                     const DraftWeights& weights);

/// The JSON object that a value of meta holds; an empty object if it holds none.
[[nodiscard]] nlohmann::json meta_object(const traces::Meta& meta, const std::string& key);

// What a recording says of its checkpoint's next-token layer, and which strategies draft with it.

/// Whether the recorded checkpoint has the layer. Older files say so only where it drafted.
[[nodiscard]] inline bool has_next_token_layer(const traces::Meta& meta) {
  if (meta.contains(speculation::next_token_layer_key)) return true;
  const auto models = meta.find("draft_model_shapes");
  return models != meta.end() && models->second.find('"' + std::string(speculation::next_token_layer_name) +
                                                     '"') != std::string::npos;
}

/// Whether every draft of the strategy is the layer's: a model drafts beside the target, and no parameter
/// names it.
[[nodiscard]] inline bool drafts_with_next_token_layer(std::string_view strategy) {
  const speculation::StrategyRow& row = speculation::strategy_row(strategy);
  return row.drafts_with_other_model && std::ranges::none_of(row.parameters, [](const auto& parameter) {
           return parameter.name == "model";
         });
}

}  // namespace draftscope::simulator
