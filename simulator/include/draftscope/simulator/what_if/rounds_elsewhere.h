// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The same rounds under other circumstances than the recorded ones: a longer context, another model's shape.

#include <draftscope/simulator/hardware/model_shape.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <cstdint>

namespace draftscope::simulator {

/// As if `rows` more K/V rows stood before every pass; acceptance is held, which a note says.
void lengthen_context(StrategyRounds& rounds, std::int32_t rows);

/// The rounds, priced for a model of another depth: exit layers and sublayers stay at the same share of the
/// depth. What another model would accept is not in the recording: the answer is approximate, and a note
/// says so. Unchanged for the same number of layers and name.
[[nodiscard]] StrategyRounds for_shape(StrategyRounds rounds, const ModelShape& recorded,
                                       const ModelShape& asked);

}  // namespace draftscope::simulator
