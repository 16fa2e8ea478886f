// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figure of the confidences of drafted tokens: one point per token, marked by its fate, or the mean of each
// fate if there are many. Also shows the threshold, and the acceptance rate below.

#include <functional>

#include "charts/chart.h"
#include "data/rounds/draft_confidences.h"
#include "views/rounds/round_axis.h"

namespace draftscope::gui {

/// `number` gives the displayed number of the round at a place. Empty if nothing was drafted.
[[nodiscard]] Chart confidence_chart(const DraftConfidences& drafts, const RoundAxis& axis,
                                     const std::function<std::uint32_t(std::size_t place)>& number);

}  // namespace draftscope::gui
