// SPDX-License-Identifier: GPL-3.0-or-later
#include "whole_pixels.h"

#include <QPaintEngine>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace draftscope::gui {

int whole_pixels(const QPainter& painter, const QPointF& at) {
  if (painter.paintEngine() == nullptr || painter.paintEngine()->type() != QPaintEngine::Raster) return 0;
  const QTransform transform = painter.deviceTransform();
  const double scale = transform.m11();
  const QPointF corner = transform.map(at);
  const bool is_square =
      transform.type() <= QTransform::TxScale && scale == transform.m22() && scale == std::round(scale);
  const bool is_corner = corner.x() == std::round(corner.x()) && corner.y() == std::round(corner.y());
  return is_square && is_corner ? std::max(0, static_cast<int>(scale)) : 0;
}

}  // namespace draftscope::gui
