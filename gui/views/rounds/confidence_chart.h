// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Confidences of drafted tokens as a figure: a point a token by what became of it, or, of many, the mean of
// each kind; the threshold; and the acceptance rate below.

#include <functional>

#include "charts/chart.h"
#include "data/rounds/draft_confidences.h"
#include "views/rounds/round_axis.h"

namespace draftscope::gui {

/// `number` gives the number for people of the round at a place. Empty if nothing was drafted.
[[nodiscard]] Chart confidence_chart(const DraftConfidences& drafts, const RoundAxis& axis,
                                     const std::function<std::uint32_t(std::size_t place)>& number);

}  // namespace draftscope::gui
