// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Text of the page's pictures, made of the simulator's results: rows for bars, and numbers for tables.

#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/simulator/prices/tpt_ladder.h>

#include "charts/chart.h"
#include "what_if/pictures/bar_rows.h"
#include "what_if/questions/heat_map.h"
#include "what_if/questions/waterfall_picture.h"

namespace draftscope::gui {

[[nodiscard]] std::vector<BarRow> ladder_rows(const simulator::Ladder& ladder);
[[nodiscard]] ChartTable ladder_numbers(const simulator::Ladder& ladder);

[[nodiscard]] std::vector<BarRow> waterfall_rows(const WaterfallLevels& levels);
/// Gaps, the asked strategy's share of the oracle, the price of time, notes; a line each.
[[nodiscard]] QStringList waterfall_footnotes(const WaterfallLevels& levels);
[[nodiscard]] ChartTable waterfall_numbers(const WaterfallLevels& levels);

[[nodiscard]] ChartTable heat_map_numbers(const HeatMap& map);
[[nodiscard]] ChartTable roofline_numbers(const simulator::Roofline& roofline);

}  // namespace draftscope::gui
