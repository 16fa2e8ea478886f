// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pictures of the what-if page as charts with their numbers.

#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/simulator/prices/tpt_ladder.h>

#include "charts/chart.h"
#include "what_if/questions/heat_map.h"
#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

[[nodiscard]] Chart ladder_chart(const simulator::Ladder& ladder);

[[nodiscard]] Chart waterfall_chart(const WaterfallLevels& levels);
/// Lines about gaps, the asked strategy's share of the oracle, the cost of time, and notes.
[[nodiscard]] QStringList waterfall_footnotes(const WaterfallLevels& levels);

/// Chart with exits to the right and lengths upwards; a ring marks each recorded setting. Its colours reach
/// at least `min_scale_limit`.
[[nodiscard]] Chart heat_map_chart(const HeatMap& map, const QString& name,
                                   const std::vector<RecordedPoint>& recorded, double min_scale_limit);

/// Filled marks are passes of one row, hollow ones verifications. Empty if no time is known.
[[nodiscard]] Chart roofline_chart(const simulator::Roofline& roofline);

}  // namespace draftscope::gui
