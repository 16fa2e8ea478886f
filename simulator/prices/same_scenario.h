// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/prices/scenario.h>

namespace draftscope::simulator {

/// Whether all that prices depend on is the same in both, and what their notes name. Of shapes those are the
/// name and the sizes.
[[nodiscard]] bool same_scenario(const Scenario& a, const Scenario& b);

}  // namespace draftscope::simulator
