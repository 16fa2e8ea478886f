// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draws charts with QCustomPlot, on the screen or for a file.

#include <QFont>
#include <QPalette>
#include <QSize>

#include "charts/chart.h"

class QCustomPlot;

namespace draftscope::gui {

struct ChartLook {
  QPalette palette;
  QFont font;
  QSize size;  ///< Size of the drawing; decides how much of legend and names fits.
  bool has_legend = true;
};

/// Replaces everything in the plot. Panel i is the plot's axis rectangle i, from the top.
void draw_chart(QCustomPlot& plot, const Chart& chart, const ChartLook& look);

/// Whether every cell has room for its number; false without cells.
[[nodiscard]] bool shows_numbers(const Chart& chart, const ChartLook& look);

/// Height below which names of axes would be cut.
[[nodiscard]] int min_chart_height(const Chart& chart, const QFont& font, int width);

}  // namespace draftscope::gui
