// SPDX-License-Identifier: GPL-3.0-or-later
#include "step_line.h"

#include <algorithm>

namespace draftscope::gui {

namespace {

constexpr int thickness = 2;

}  // namespace

void StepLine::add(int left, int right, int y) {
  painter_.fillRect(left, y - 1, right - left, thickness, color_);
  if (last_y_ && std::abs(*last_y_ - y) > 1)
    painter_.fillRect(left - 1, std::min(*last_y_, y) - 1, thickness, std::abs(*last_y_ - y) + thickness,
                      color_);
  last_y_ = y;
}

void paint_dashes(QPainter& painter, int left, int right, int y, int on, int off, const QColor& color) {
  const int period = on + off;
  for (int dash = left - left % period; dash < right; dash += period) {
    const int from = std::max(dash, left);
    const int to = std::min(dash + on, right);
    if (to > from) painter.fillRect(from, y - 1, to - from, thickness, color);
  }
}

}  // namespace draftscope::gui
