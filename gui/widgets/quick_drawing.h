// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Fast drawing of thousands of items within a frame: lines as filled boxes, marks as pictures.

#include <QColor>
#include <QPainter>
#include <QPixmap>
#include <QPointF>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace draftscope::gui {

/// A line of 2 pixels through the columns of a plot: horizontal in each column, with vertical connections
/// between them. It is drawn as filled boxes, since a stroked path of a thousand steps takes longer than a
/// frame.
class StepLine {
 public:
  StepLine(QPainter& painter, const QColor& color) : painter_(painter), color_(color) {}
  /// Draws a step from `left` to `right`, each at or after the end of the previous one.
  void add(int left, int right, int y);
  /// Leaves the next step unconnected.
  void lift() { last_y_.reset(); }

 private:
  QPainter& painter_;
  QColor color_;
  std::optional<int> last_y_;
};

/// Draws a horizontal line with dashes of `on` and gaps of `off` pixels, at the same places for any part of a
/// line.
void paint_dashes(QPainter& painter, int left, int right, int y, int on, int off, const QColor& color);

/// Small marks as pictures, each kind drawn once: thousands of smooth outlines would take longer than a
/// frame. They stand on whole pixels. In a file they are outlines.
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
  std::vector<QPixmap> pictures_;  ///< [kind] empty = the painter writes no pixels
};

/// Device pixels per pixel of the painter, if the scale is the same whole number in both directions and `at`
/// is a pixel's corner. A picture drawn separately is then the same to the pixel. 0 otherwise, and where the
/// painter writes no pixels.
[[nodiscard]] int whole_pixels(const QPainter& painter, const QPointF& at);

}  // namespace draftscope::gui
