// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A line in which rounds are asked for (data/rounds/round_filter.h); all views of rounds then show those that
// it leaves. Beside it stands how many these are; what is wrong with the words stands below them, and
// the last filter that was right holds on.

#include <QWidget>
#include <memory>

#include "data/rounds/round_filter.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

class QLabel;
class QLineEdit;

namespace draftscope::gui {

class FilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit FilterBar(ViewState& state, QWidget* parent = nullptr);

  /// Shows the bar with the cursor in its line.
  void begin();
  /// Leaves all rounds, and hides.
  void end();
  void set_words(const QString& words);

 signals:
  /// The rounds that the line asks for are shown, or an error is.
  void settled();
  /// It is hidden again.
  void ended();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void lay_out();
  void parse();
  void apply();
  void show_counts();

  ViewState& state_;
  BackgroundJob job_;
  RoundFilter filter_;
  QLineEdit* line_;
  QLabel* count_;
  QLabel* problem_;
};

}  // namespace draftscope::gui
