// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds of the run as a table that sorts and searches; its current row is the cursor's round.

#include <QWidget>

#include "models/rounds_model.h"
#include "state/view_state.h"

class QLineEdit;
class QTableView;

namespace draftscope::gui {

class RoundsView : public QWidget {
  Q_OBJECT

 public:
  explicit RoundsView(ViewState& state, QWidget* parent = nullptr);

 private:
  void show_run();
  void show_cursor();

  ViewState& state_;
  RoundsModel model_;
  QLineEdit* filter_;
  QTableView* table_;
};

}  // namespace draftscope::gui
