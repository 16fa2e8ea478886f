// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Skipped layers, and the time of layers, as figures: a value for each layer, from the first on.

#include <vector>

#include "charts/chart.h"

namespace draftscope::gui {

/// `shares` by sublayer, attention and MLP of each layer in turn. Empty without any.
[[nodiscard]] Chart skip_chart(const std::vector<double>& shares);

/// `per_round_ns` by layer. Empty without any.
[[nodiscard]] Chart layer_time_chart(const std::vector<double>& per_round_ns);

}  // namespace draftscope::gui
