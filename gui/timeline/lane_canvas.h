// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the boxes of a lane are painted: thousands in a frame, most of them a pixel wide. One by one in the
// device each pixel of such a box lies in another page of memory than the one above it. They go into a
// picture of the lane instead, which is small, and which the device gets at once.

#include <QColor>
#include <QImage>
#include <QPainter>
#include <QRect>
#include <optional>

namespace draftscope::gui {

class LaneCanvas {
 public:
  /// `back` is what the lane has been filled with. Without a colour, and where the painter writes no pixels
  /// or doesn't make each one of the lane's a square of some, every box goes to it by itself.
  LaneCanvas(QPainter& painter, const QRect& area, const QColor& back);
  /// Draws what has been painted.
  ~LaneCanvas();
  LaneCanvas(const LaneCanvas&) = delete;
  LaneCanvas& operator=(const LaneCanvas&) = delete;

  [[nodiscard]] const QRect& area() const { return area_; }
  /// A box of the area. Its pixels are those that QPainter::fillRect() would leave in the device.
  void fill(const QRect& box, const QColor& color);

 private:
  void make_picture();

  QPainter& painter_;
  QRect area_;
  QColor back_;
  int scale_ = 0;  ///< of the lane's pixels in the picture; 0 without one
  QImage picture_;
  QRgb* pixels_ = nullptr;
  qsizetype per_line_ = 0;
  std::optional<QPainter> blender_;  ///< Painter of boxes that can be seen through.
  int left_ = 0;                     ///< of what has been painted
  int right_ = 0;                    ///< after it
};

}  // namespace draftscope::gui
