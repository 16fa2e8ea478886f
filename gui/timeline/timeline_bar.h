// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The bar above the lanes: a menu for the lanes, and the legend of their colours.

#include <QMenu>
#include <QToolButton>
#include <QWidget>

#include "widgets/drawing.h"

namespace draftscope::gui {

class TimelineBar : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineBar(QWidget* parent = nullptr);

  /// Menu of the lanes, for the view to fill.
  [[nodiscard]] QMenu& lanes_menu() { return *lanes_menu_; }
  /// Sets the numbers of folded and hidden lanes, which the menu's button shows.
  void set_absent(int folded, int hidden);
  [[nodiscard]] PhaseLegend& legend() { return *legend_; }

 private:
  QToolButton* lanes_ = new QToolButton;
  QMenu* lanes_menu_ = new QMenu(this);
  PhaseLegend* legend_ = new PhaseLegend;
};

}  // namespace draftscope::gui
