// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Points and cells of a chart: the text about one, and its neighbours for the arrow keys.

#include <Qt>

#include "charts/chart.h"

namespace draftscope::gui {

struct ChartPlace {
  static constexpr std::size_t of_cells = static_cast<std::size_t>(-1);

  std::size_t panel = 0;
  std::size_t series = 0;  ///< of_cells = `point` is an index of the panel's cells
  std::size_t point = 0;

  friend bool operator==(const ChartPlace&, const ChartPlace&) = default;
};

/// Whether the chart has such a point or cell.
[[nodiscard]] bool is_in(const Chart& chart, const ChartPlace& place);

/// Text of one or more lines.
[[nodiscard]] QString words_of(const Chart& chart, const ChartPlace& place);

/// The first point or cell; absent in a chart without any.
[[nodiscard]] std::optional<ChartPlace> first_place(const Chart& chart);

/// The place that an arrow key leads to: along the points by their place on the axis of keys, across to the
/// nearest point of the next series, or between cells. The same place at the end, and for other keys.
[[nodiscard]] ChartPlace next_place(const Chart& chart, const ChartPlace& from, Qt::Key key);

}  // namespace draftscope::gui
