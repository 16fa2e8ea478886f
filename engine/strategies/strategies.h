// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What each strategy file offers to the registry.

#include <draftscope/engine/strategy.h>
#include <functional>

#include "strategies/specification.h"

namespace draftscope::engine {

struct StrategyEntry {
  StrategyDescription description;
  /// May complete defaults that depend on the model; fails on values out of range.
  std::function<Result<std::unique_ptr<Strategy>>(
      Parameters& parameters, const speculation::ModelShape& shape, const StrategyResources& resources)>
      make;
  /// The entry for a text of parameters, where they decide which parameters there are. Null = this one.
  Result<StrategyEntry> (*specialise)(std::string_view text) = nullptr;
  /// In place of `make`, for a strategy that is another one.
  Result<ConfiguredStrategy> (*configure)(const Parameters& parameters, const speculation::ModelShape& shape,
                                          const StrategyResources& resources) = nullptr;
};

[[nodiscard]] StrategyEntry tuned_entry();
[[nodiscard]] StrategyEntry vanilla_entry();
[[nodiscard]] StrategyEntry two_model_entry();
[[nodiscard]] StrategyEntry prompt_lookup_entry();
[[nodiscard]] StrategyEntry jacobi_entry();
[[nodiscard]] StrategyEntry lookahead_entry();

}  // namespace draftscope::engine
