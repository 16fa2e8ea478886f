// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What plots are drawn with: legends, titles of vertical axes, and thousands of lines and marks within a
// frame, as filled boxes and pictures.

#include <draftscope/traces/records.h>

#include <QBrush>
#include <QColor>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QPointF>
#include <QRect>
#include <QString>
#include <QWidget>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace draftscope::gui {

/// Signs with their texts, side by side.
class LegendRow {
 public:
  /// Fills `box` from its left; signs that do not fit are left out.
  LegendRow(QPainter& painter, const QPalette& palette, const QRect& box);

  /// Adds a filled box.
  void add(const QBrush& fill, const QString& words);
  /// Adds the colours of scale_color(), from the least to the greatest.
  void add_scale(const QString& words);
  /// Adds the line that stands for an exit layer.
  void add_exit(const QString& words);
  /// Adds a sign that `paint_sign` draws into the given box.
  template <typename PaintSign>
  void add_sign(const QString& words, const PaintSign& paint_sign) {
    const QRect sign = place(words);
    if (sign.isEmpty()) return;
    painter_.save();
    paint_sign(sign);
    painter_.restore();
  }

 private:
  /// Writes the text, and returns the place of its sign; an empty one if there is no room.
  [[nodiscard]] QRect place(const QString& words);

  QPainter& painter_;
  QPalette palette_;
  QRect box_;
};

/// Draws text from bottom to top, around a point.
void paint_upwards(QPainter& painter, const QPoint& middle, const QString& words);

/// The colours of phases with their names, side by side. The tool tip has all of them, even those that do not
/// fit.
class PhaseLegend : public QWidget {
  Q_OBJECT

 public:
  /// Shows all phases.
  explicit PhaseLegend(QWidget* parent = nullptr);
  void set_phases(std::vector<traces::Phase> phases);

  [[nodiscard]] QSize sizeHint() const override { return {560, fontMetrics().height() + 6}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<traces::Phase> phases_;
};

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
