// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The what-if page's pictures as charts with their numbers.

#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/simulator/prices/tpt_ladder.h>

#include "charts/chart.h"
#include "what_if/questions/heat_map.h"
#include "what_if/questions/waterfall_picture.h"

namespace draftscope::gui {

[[nodiscard]] Chart ladder_chart(const simulator::Ladder& ladder);

[[nodiscard]] Chart waterfall_chart(const WaterfallLevels& levels);
/// Gaps, the asked strategy's share of the oracle, the price of time, notes; a line each.
[[nodiscard]] QStringList waterfall_footnotes(const WaterfallLevels& levels);

/// Exits to the right, lengths upwards; a ring on each recorded setting. The scale of colours only grows.
[[nodiscard]] Chart heat_map_chart(const HeatMap& map, const QString& name,
                                   const std::vector<RecordedPoint>& recorded, double& scale_limit);

/// Filled marks are passes of one row, hollow ones verifications. Empty where no time is known.
[[nodiscard]] Chart roofline_chart(const simulator::Roofline& roofline);

}  // namespace draftscope::gui
