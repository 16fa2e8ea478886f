// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Canvas for the boxes of a lane: thousands per frame, most of them a pixel wide. Drawn directly, each pixel
// of such a box would lie in another memory page than the one above it. They go into a small picture of the
// lane instead, which is drawn to the device at once.

#include <QColor>
#include <QImage>
#include <QPainter>
#include <QRect>
#include <optional>

namespace draftscope::gui {

class LaneCanvas {
 public:
  /// `back` is the colour that fills the lane. Boxes go directly to the painter if `back` is invalid, if the
  /// painter writes no pixels, or if a lane pixel is no square of whole device pixels.
  LaneCanvas(QPainter& painter, const QRect& area, const QColor& back);
  /// Draws the picture of what has been painted.
  ~LaneCanvas();
  LaneCanvas(const LaneCanvas&) = delete;
  LaneCanvas& operator=(const LaneCanvas&) = delete;

  [[nodiscard]] const QRect& area() const { return area_; }
  /// Fills a box of the area. The device gets the same pixels as from QPainter::fillRect().
  void fill(const QRect& box, const QColor& color);

 private:
  void make_picture();

  QPainter& painter_;
  QRect area_;
  QColor back_;
  int scale_ = 0;  ///< Picture pixels per lane pixel; 0 = no picture
  QImage picture_;
  QRgb* pixels_ = nullptr;
  qsizetype per_line_ = 0;
  std::optional<QPainter> blender_;  ///< Painter of translucent boxes.
  int left_ = 0;                     ///< Left end of what has been painted.
  int right_ = 0;                    ///< Exclusive right end of what has been painted.
};

}  // namespace draftscope::gui
