// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tour through a recording, whose steps are five questions, and where each is answered: a panel with a
// sentence or two per step over a corner of the window, and a frame around the widget of the step.

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QString>
#include <functional>
#include <vector>

#include "help/widget_mark.h"

namespace draftscope::gui {

struct TourStep {
  QString title;     ///< The question.
  QString words;     ///< Explains what is visible, and how to read it.
  QString view;      ///< Name of the view that is shown; empty for the menus.
  QString strategy;  ///< Specification of the run to choose; empty = unchanged.
  QString marked;    ///< Accessible name of the marked part of the view; empty for all of it.
};

[[nodiscard]] const std::vector<TourStep>& tour_steps();

/// → or Return goes on, ← back, Esc leaves; the window stays usable meanwhile.
class Tour : public QFrame {
  Q_OBJECT

 public:
  /// Shows the widget of a step, and returns it; null if there is nothing to mark.
  using Show = std::function<QWidget*(const TourStep& step)>;

  Tour(Show show, QWidget* window);

  void start() { go_to(0); }
  void go_to(int step);
  void leave();
  [[nodiscard]] bool is_under_way() const { return step_ >= 0; }
  /// Current step from 0; -1 while the tour is not running.
  [[nodiscard]] int step() const { return step_; }
  [[nodiscard]] QWidget* marked() const { return mark_->target(); }

 signals:
  void left();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Moves the panel to the corner that hides the least of the marked widget.
  void place();

  Show show_;
  int step_ = -1;
  WidgetMark* mark_;
  QLabel* title_ = new QLabel;
  QLabel* words_ = new QLabel;
  QLabel* place_ = new QLabel;
  QPushButton* back_ = new QPushButton(tr("← Back"));
  QPushButton* next_ = new QPushButton(tr("Next →"));
};

}  // namespace draftscope::gui
