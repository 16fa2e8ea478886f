// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chart on the screen. It shows values at the pointer or, with the arrow keys, at the focus; a click or
// Return chooses a point. It follows the window's colours.

#include <qcustomplot.h>

#include "charts/chart.h"
#include "charts/chart_places.h"

namespace draftscope::gui {

class ChartPlot : public QCustomPlot {
  Q_OBJECT

 public:
  explicit ChartPlot(const QString& name, QWidget* parent = nullptr);

  /// Shows another chart, unzoomed.
  void set_chart(Chart chart);
  [[nodiscard]] const Chart& chart() const { return chart_; }
  /// Frames a cell of the first panel, given as column and row, without a replot. The arrow keys start there.
  void frame_cell(std::optional<QPoint> cell);
  /// The point or cell that the keyboard is on.
  [[nodiscard]] const std::optional<ChartPlace>& place() const { return place_; }
  /// The cell, or the nearest point, at a place of the widget; absent where none is near.
  [[nodiscard]] std::optional<ChartPlace> place_at(const QPointF& at) const;

 signals:
  void chosen(const draftscope::gui::ChartPlace& place);

 protected:
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void redraw();
  /// Replots once it is visible, however much changes until then.
  void replot_when_painted();
  void go_to(const ChartPlace& place);
  void paint_frame(QPainter& painter) const;
  /// Place where the arrow keys start.
  [[nodiscard]] std::optional<ChartPlace> begin() const;
  /// Place of a point or cell in the widget.
  [[nodiscard]] QPointF pixel_of(const ChartPlace& place) const;

  Chart chart_;
  std::optional<ChartPlace> place_;
  std::optional<QPoint> framed_;
  QPoint pressed_;
  int drawn_width_ = 0;
  bool is_to_replot_ = false;
};

}  // namespace draftscope::gui
