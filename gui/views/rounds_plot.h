// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What views over rounds have in common: the rounds that the visible range holds on the x axis, zoom with the
// wheel, dragging, a click that takes the cursor to a round, the cursor's line. A view draws its part and its
// words.

#include <QWidget>

#include "views/round_axis.h"

class QComboBox;

namespace draftscope::gui {

class RoundsPlot : public QWidget {
  Q_OBJECT

 public:
  explicit RoundsPlot(ViewState& state, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {900, 420}; }

 protected:
  /// The shown run is another, or none.
  virtual void read_run() = 0;
  virtual void paint(QPainter& painter, const RoundAxis& axis) = 0;
  /// Of a place in the plot, for the tool tip; empty shows none.
  [[nodiscard]] virtual QString words_at(const RoundAxis& axis, const QPoint& point) const = 0;

  /// Of a place beside the plot; empty shows none.
  [[nodiscard]] virtual QString words_beside(const RoundAxis& /*axis*/, const QPoint& /*point*/) const {
    return {};
  }

  /// A choice of what the view shows, above the room beside the plot; M takes the next one. Once at most.
  QComboBox& add_choice(const QString& name, const QStringList& choices);

  /// Room beside the plot, for legends and tables.
  [[nodiscard]] virtual int right_margin() const { return 150; }

  [[nodiscard]] const ViewState& state() const { return state_; }
  [[nodiscard]] ViewState& state() { return state_; }
  /// Inside margins that are the same in every such view, so that their axes stand below one another.
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] RoundAxis axis() const;
  /// In the plot's place; the view's description too.
  void paint_notice(QPainter& painter, const QString& words);

  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void refresh();
  void paint_round_ticks(QPainter& painter, const RoundAxis& axis) const;

  ViewState& state_;
  QComboBox* choice_ = nullptr;
  bool is_stale_ = true;  ///< the run is read when the view is first seen
  QPoint pressed_;
  RoundAxis pressed_axis_;
  bool is_dragging_ = false;
  bool moved_ = false;
};

}  // namespace draftscope::gui
