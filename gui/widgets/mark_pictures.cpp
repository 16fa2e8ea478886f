// SPDX-License-Identifier: GPL-3.0-or-later
#include "mark_pictures.h"

#include <QPaintEngine>
#include <QPainter>
#include <cmath>
#include <utility>

namespace draftscope::gui {

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

}  // namespace draftscope::gui
