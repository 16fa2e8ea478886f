// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The papers' strategies as mixes of parts, and `mix`, which takes any.

#include <vector>

#include "strategies/strategies.h"

namespace draftscope::engine {

[[nodiscard]] std::vector<StrategyEntry> preset_entries();
[[nodiscard]] StrategyEntry mix_entry();

}  // namespace draftscope::engine
