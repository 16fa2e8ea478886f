// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Above the lanes: which time the timeline shows, what is done with its lanes, and the legend of its colours.

#include <QWidget>

#include "data/lanes/lane_groups.h"

class QComboBox;
class QMenu;
class QToolButton;

namespace draftscope::gui {

class PhaseLegend;

class TimelineBar : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineBar(QWidget* parent = nullptr);

  [[nodiscard]] TimelineMode mode() const;
  void set_mode(TimelineMode mode);
  /// Menu of the lanes, for the view to fill.
  [[nodiscard]] QMenu& lanes_menu() { return *lanes_menu_; }
  /// How many lanes are not to be seen for now, which the menu's button says.
  void set_absent(int folded, int hidden);
  [[nodiscard]] PhaseLegend& legend() { return *legend_; }

 signals:
  void mode_changed();

 private:
  QComboBox* mode_;
  QToolButton* lanes_;
  QMenu* lanes_menu_;
  PhaseLegend* legend_;
};

}  // namespace draftscope::gui
