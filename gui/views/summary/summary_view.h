// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording's facts, its machine, its figures, and what to be wary of: the first thing to read of a
// recording.

#include <QWidget>

#include "models/runs_model.h"
#include "state/view_state.h"

class QLabel;
class QTableView;
class QTreeWidget;

namespace draftscope::gui {

class PhaseBars;
class WhyCard;
enum class TokenTime : std::uint8_t;

class SummaryView : public QWidget {
  Q_OBJECT

 public:
  explicit SummaryView(ViewState& state, QWidget* parent = nullptr);

 signals:
  /// The rounds behind a part of the run's time are asked for.
  void rounds_asked(TokenTime what);

 private:
  void show_recording();
  void show_run();

  ViewState& state_;
  RunsModel runs_;
  QLabel* identity_;
  QLabel* warnings_;
  QTableView* table_;
  PhaseBars* bars_;
  WhyCard* why_;
  QTreeWidget* details_;
};

}  // namespace draftscope::gui
