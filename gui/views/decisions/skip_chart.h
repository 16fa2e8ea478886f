// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of skipped layers and of the time of layers, with one value per layer from the first on.

#include <vector>

#include "charts/chart.h"

namespace draftscope::gui {

/// Chart of skipped shares. `shares` has attention and MLP of each layer in turn. Empty without shares.
[[nodiscard]] Chart skip_chart(const std::vector<double>& shares);

/// Chart of the time per round of each layer. Empty without times.
[[nodiscard]] Chart layer_time_chart(const std::vector<double>& per_round_ns);

}  // namespace draftscope::gui
