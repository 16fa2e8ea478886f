// SPDX-License-Identifier: GPL-3.0-or-later
#include "quarter_lines.h"

#include <QPainter>
#include <QPalette>
#include <cmath>

#include "widgets/theme.h"

namespace draftscope::gui {

void paint_quarter_lines(QPainter& painter, const QPalette& palette, const QRect& area, double bottom,
                         double top) {
  constexpr int quarters = 4;
  // As many digits as tell the quarters exactly, so that all of them have as many.
  const double step = (top - bottom) / quarters;
  constexpr int max_digits = 6;
  int digits = 0;
  for (double scaled = step; digits < max_digits; ++digits, scaled *= 10.0)
    if (std::abs(scaled - std::round(scaled)) < 1e-6 * std::abs(scaled)) break;
  for (int quarter = 0; quarter <= quarters; ++quarter) {
    const double value = bottom + (top - bottom) * quarter / quarters;
    const int y = area.bottom() - (area.height() - 1) * quarter / quarters;
    painter.fillRect(area.left(), y, area.width(), 1, grid_color(palette));
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRect(0, y - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(value, 'f', digits));
  }
}

}  // namespace draftscope::gui
