// SPDX-License-Identifier: GPL-3.0-or-later
#include "quarter_lines.h"

#include <QPainter>
#include <QPalette>

#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

void paint_quarter_lines(QPainter& painter, const QPalette& palette, const QRect& area, double bottom,
                         double top) {
  constexpr int quarters = 4;
  for (int quarter = 0; quarter <= quarters; ++quarter) {
    const double value = bottom + (top - bottom) * quarter / quarters;
    const int y = area.bottom() - (area.height() - 1) * quarter / quarters;
    painter.setPen(grid_color(palette));
    painter.drawLine(area.left(), y, area.right(), y);
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRect(0, y - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     number_text(value));
  }
}

}  // namespace draftscope::gui
