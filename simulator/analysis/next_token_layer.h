// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a recording says of its checkpoint's next-token layer, and which strategies draft with it.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/next_token_name.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <string>
#include <string_view>

namespace draftscope::simulator {

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
