// SPDX-License-Identifier: GPL-3.0-or-later
#include "quick_drawing.h"

#include <QPaintEngine>
#include <algorithm>
#include <cmath>
#include <utility>

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

MarkPictures::MarkPictures(QPainter& painter, std::size_t kinds, double radius, Draw draw)
    : painter_(painter), draw_(std::move(draw)), ratio_(painter.device()->devicePixelRatioF()) {
  if (painter.paintEngine()->type() != QPaintEngine::Raster) return;
  const int side = 2 * (static_cast<int>(std::ceil(radius * ratio_)) + 2) + 1;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    QPixmap& picture = pictures_.emplace_back(side, side);
    picture.setDevicePixelRatio(ratio_);
    picture.fill(Qt::transparent);
    QPainter into(&picture);
    into.setRenderHint(QPainter::Antialiasing);
    draw_(into, kind, QPointF(side, side) / (2.0 * ratio_));
  }
}

void MarkPictures::paint(std::size_t kind, const QPointF& at) const {
  if (pictures_.empty()) return draw_(painter_, kind, at);
  const QPixmap& picture = pictures_[kind];
  const int half = picture.width() / 2;
  const auto corner = [&](double of) { return (std::floor(of * ratio_) - half) / ratio_; };
  painter_.drawPixmap(QPointF(corner(at.x()), corner(at.y())), picture);
}

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
