// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Table of the run's rounds that can be sorted and searched; its current row is the cursor's round. It is
// filled when it is first shown.

#include <QLineEdit>
#include <QTableView>
#include <QWidget>

#include "models/rounds_model.h"
#include "state/view_state.h"

namespace draftscope::gui {

class RoundsView : public QWidget {
  Q_OBJECT

 public:
  explicit RoundsView(ViewState& state, QWidget* parent = nullptr);

  /// Sorts by a column of simulator::round_columns(), and moves the cursor to the round that comes first.
  void show_first_by(std::string_view key, Qt::SortOrder order);

 private:
  void forget();
  void show_run();
  void show_cursor();

  ViewState& state_;
  RoundsModel model_;
  bool is_stale_ = true;
  QLineEdit* filter_ = new QLineEdit;
  QTableView* table_ = new QTableView;
};

}  // namespace draftscope::gui
