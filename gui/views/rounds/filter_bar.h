// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Line edit that filters rounds (data/rounds/round_filter.h); all views of rounds then show only matching
// ones, and the cursor goes to the first. The count of matches stands beside it, an error below it; after an
// error the last valid filter stays in effect.

#include <QLabel>
#include <QLineEdit>
#include <QWidget>

#include "data/rounds/round_filter.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class FilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit FilterBar(ViewState& state, QWidget* parent = nullptr);

  /// Shows the bar with the cursor in its line.
  void begin();
  /// Removes the filter, and hides the bar.
  void end();
  void set_words(const QString& words);

 signals:
  /// Emitted when the matching rounds, or an error, are shown.
  void settled();
  /// Emitted when the cursor was moved to a round that is left.
  void went_to(std::uint32_t round_index);
  /// Emitted when the bar is hidden again.
  void ended();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void lay_out();
  void parse();
  void apply();
  /// Moves the cursor to the first round that is left of the shown run, unless it is on such a round.
  void go_to_left_round();
  void show_counts();

  ViewState& state_;
  BackgroundJob job_;
  RoundFilter filter_;
  QLineEdit* line_ = new QLineEdit;
  QLabel* count_ = new QLabel;
  QLabel* problem_ = new QLabel;
};

}  // namespace draftscope::gui
