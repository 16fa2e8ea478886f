// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chart on the screen: values where the pointer or, by the arrow keys, the focus is; a click or Return
// chooses a point. Follows the window's colours.

#include <qcustomplot.h>

#include "charts/chart.h"
#include "charts/chart_places.h"

namespace draftscope::gui {

class ChartPlot : public QCustomPlot {
  Q_OBJECT

 public:
  explicit ChartPlot(const QString& name, QWidget* parent = nullptr);

  /// Shows another chart, whole.
  void set_chart(Chart chart);
  [[nodiscard]] const Chart& chart() const { return chart_; }
  /// A line across all panels at a place of the horizontal axis.
  void set_cursor(std::optional<double> x);
  /// A mark each in a panel, in the colours of its series; drawn without drawing the chart anew.
  void set_marks(std::size_t panel, const std::vector<QPointF>& places);
  /// The point or cell that the keyboard is on.
  [[nodiscard]] const std::optional<ChartPlace>& place() const { return place_; }
  /// Nearest point, or the cell, at a place of the widget; absent where none is near.
  [[nodiscard]] std::optional<ChartPlace> place_at(const QPointF& at) const;

 signals:
  void chosen(const draftscope::gui::ChartPlace& place);

 protected:
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void redraw();
  /// Plots anew once it is seen, however much changes until then.
  void replot_when_painted();
  /// Plots anew what moved.
  void replot_soon();
  void draw_marks();
  void link_panels();
  void go_to(const ChartPlace& place);
  /// Place of a point or cell in the widget.
  [[nodiscard]] QPointF pixel_of(const ChartPlace& place) const;

  Chart chart_;
  std::optional<ChartPlace> place_;
  std::optional<double> cursor_;
  std::size_t marked_panel_ = 0;
  std::vector<QPointF> marks_;
  std::vector<QCPGraph*> mark_graphs_;
  std::vector<QCPItemStraightLine*> cursor_lines_;
  QPoint pressed_;
  int drawn_width_ = 0;
  bool is_to_replot_ = false;
};

}  // namespace draftscope::gui
