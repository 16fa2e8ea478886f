// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The what-if page's pictures as charts, for files.

#include "charts/chart.h"
#include "what_if/pictures/bar_rows.h"
#include "what_if/pictures/picture_text.h"
#include "what_if/questions/heat_map.h"

namespace draftscope::gui {

[[nodiscard]] Chart heat_map_chart(const HeatMap& map, const QString& name, ChartTable table);
[[nodiscard]] Chart bars_chart(const std::vector<BarRow>& rows, const QString& name, ChartTable table);
[[nodiscard]] Chart roofline_chart(const simulator::Roofline& roofline, const QString& name,
                                   ChartTable table);

}  // namespace draftscope::gui
