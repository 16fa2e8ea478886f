// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What each strategy file offers to the registry.

#include <draftscope/engine/strategy.h>

#include "strategies/specification.h"

namespace draftscope::engine {

struct StrategyEntry {
  StrategyDescription description;
  /// May complete defaults that depend on the model; fails on values out of range.
  Result<std::unique_ptr<Strategy>> (*make)(Parameters& parameters, const ModelShape& shape);
};

[[nodiscard]] StrategyEntry vanilla_entry();
[[nodiscard]] StrategyEntry layerskip_entry();
[[nodiscard]] StrategyEntry prompt_lookup_entry();
[[nodiscard]] StrategyEntry jacobi_entry();
[[nodiscard]] StrategyEntry lookahead_entry();

}  // namespace draftscope::engine
