// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Exits of the model that is asked about, where that is deeper or shallower than the recorded one. Without
// this an exit is one of the recorded model's layers, and stands for the same share of the other's depth.

#include <draftscope/base/result.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <string_view>

namespace draftscope::simulator {

/// Rounds of a strategy whose `exit` counts layers of `asked`, for_shape() included: acceptance is that of
/// the recorded exit nearest to the same share of the depth, the price that of the exit itself. A strategy
/// without an exit, and a model of the recorded depth, are as with WhatIf::rounds(). Errors: an exit that is
/// no layer below `asked`'s last; those of WhatIf::rounds().
[[nodiscard]] Result<StrategyRounds> rounds_at_target_exit(const WhatIf& what_if, std::string_view strategy,
                                                           const ModelShape& asked);

}  // namespace draftscope::simulator
