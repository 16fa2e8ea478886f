// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/records.h>

namespace draftscope::simulator {

/// Layers that the verifications of a recorded run's drafts ran, from its parameters: its "verify", or that
/// of the strategy inside a tuned one. All layers where neither says.
[[nodiscard]] VerifiedLayers verified_layers(const traces::Run& run);

}  // namespace draftscope::simulator
