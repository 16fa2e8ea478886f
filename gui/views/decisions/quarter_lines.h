// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QPainter;
class QPalette;
class QRect;

namespace draftscope::gui {

/// Paints lines across the area at `bottom`, `top` and each quarter between, with their values on the left.
void paint_quarter_lines(QPainter& painter, const QPalette& palette, const QRect& area, double bottom,
                         double top);

}  // namespace draftscope::gui
