// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_canvas.h"

#include <algorithm>

#include "widgets/drawing.h"

namespace draftscope::gui {

namespace {

/// Maximum width in pixels of a box that is filled faster column by column.
constexpr int narrow = 8;

}  // namespace

LaneCanvas::LaneCanvas(QPainter& painter, const QRect& area, const QColor& back)
    : painter_(painter), area_(area), back_(back), scale_(back.isValid() ? whole_pixels(painter, {}) : 0) {}

LaneCanvas::~LaneCanvas() {
  blender_.reset();
  if (picture_.isNull()) return;
  picture_.setDevicePixelRatio(scale_);
  painter_.drawImage(QPoint(left_, area_.top()), picture_,
                     QRect((left_ - area_.left()) * scale_, 0, (right_ - left_) * scale_, picture_.height()));
}

void LaneCanvas::make_picture() {
  picture_ = QImage(area_.size() * scale_, QImage::Format_RGB32);
  picture_.fill(back_);
  pixels_ = reinterpret_cast<QRgb*>(picture_.bits());
  per_line_ = picture_.bytesPerLine() / static_cast<qsizetype>(sizeof(QRgb));
  left_ = area_.right() + 1;
  right_ = area_.left();
}

void LaneCanvas::fill(const QRect& box, const QColor& color) {
  if (scale_ == 0) return painter_.fillRect(box, color);
  const QRect inside = box & area_;
  if (inside.isEmpty()) return;
  if (picture_.isNull()) make_picture();
  left_ = std::min(left_, inside.left());
  right_ = std::max(right_, inside.right() + 1);
  const QPoint at = (inside.topLeft() - area_.topLeft()) * scale_;
  const QSize size = inside.size() * scale_;
  if (color.alpha() != 255) {
    if (!blender_) blender_.emplace(&picture_);
    return blender_->fillRect(QRect(at, size), color);
  }
  const QRgb pixel = color.rgb();
  QRgb* const first = pixels_ + at.y() * per_line_ + at.x();
  QRgb* const behind = first + size.height() * per_line_;
  if (size.width() > narrow)
    for (QRgb* line = first; line != behind; line += per_line_) std::fill_n(line, size.width(), pixel);
  else
    for (int x = 0; x < size.width(); ++x)
      for (QRgb* line = first; line != behind; line += per_line_) line[x] = pixel;
}

}  // namespace draftscope::gui
