// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Overview to read first: a recording's facts, its machine, its figures, and warnings.

#include <QSortFilterProxyModel>
#include <QWidget>

#include "models/runs_model.h"
#include "state/view_state.h"

class QComboBox;
class QLabel;
class QTableView;
class QTreeWidget;

namespace draftscope::gui {

class PhaseLegend;
class PhasesCell;
class WhyCard;
enum class TokenTime : std::uint8_t;

class SummaryView : public QWidget {
  Q_OBJECT

 public:
  explicit SummaryView(ViewState& state, QWidget* parent = nullptr);

 signals:
  /// Emitted when the user asks for the rounds that took a part of the run's time.
  void rounds_asked(TokenTime what);
  /// Emitted by a link to another view, with its title.
  void view_asked(const QString& title);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void set_up_table();
  void show_recording();
  void show_run();
  /// Shows the figures with the prefill, or of decoding alone.
  void show_span();

  ViewState& state_;
  RunsModel runs_;
  QSortFilterProxyModel sorted_;
  QLabel* identity_;
  QLabel* warnings_;
  QTableView* table_;
  PhasesCell* phases_;
  QComboBox* span_;
  PhaseLegend* phase_legend_;
  WhyCard* why_;
  QTreeWidget* details_;
};

}  // namespace draftscope::gui
