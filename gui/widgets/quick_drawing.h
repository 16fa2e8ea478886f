// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Drawing of thousands of things within a frame: lines as filled boxes, marks as pictures.

#include <QColor>
#include <QPainter>
#include <QPixmap>
#include <QPointF>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace draftscope::gui {

/// A line of 2 pixels through the columns of a plot: horizontal in each column, with upright connections
/// between them. It is drawn as filled boxes, since a stroked path of a thousand steps takes longer than a
/// frame.
class StepLine {
 public:
  StepLine(QPainter& painter, const QColor& color) : painter_(painter), color_(color) {}
  /// Draws a step from `left` to `right`, each at or after the end of the one before.
  void add(int left, int right, int y);
  /// Leaves the next step unconnected.
  void lift() { last_y_.reset(); }

 private:
  QPainter& painter_;
  QColor color_;
  std::optional<int> last_y_;
};

/// Horizontal, in dashes of `on` pixels and gaps of `off`, which stand at the same places whoever draws a
/// part of a line.
void paint_dashes(QPainter& painter, int left, int right, int y, int on, int off, const QColor& color);

/// Small marks as pictures, each kind drawn once: thousands of smooth outlines would take longer than a frame
/// may. They stand on whole pixels. A file has the outlines.
class MarkPictures {
 public:
  using Draw = std::function<void(QPainter& painter, std::size_t kind, const QPointF& at)>;

  /// Marks of `kinds` kinds within `radius` of their places, as `draw` draws them. `painter` must outlive
  /// this.
  MarkPictures(QPainter& painter, std::size_t kinds, double radius, Draw draw);

  void paint(std::size_t kind, const QPointF& at) const;

 private:
  QPainter& painter_;
  Draw draw_;
  double ratio_;                   ///< Device pixels per pixel of the painter.
  std::vector<QPixmap> pictures_;  ///< by kind; none where there are no pixels
};

/// Pixels of the device that one of the painter's is in each direction, if they are a square of whole ones
/// and `at` is a corner of one: there a picture that was drawn apart is the same to the pixel. 0 otherwise,
/// and where the painter writes no pixels.
[[nodiscard]] int whole_pixels(const QPainter& painter, const QPointF& at);

}  // namespace draftscope::gui
