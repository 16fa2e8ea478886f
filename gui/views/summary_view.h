// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Overview to read first: a recording's facts, its machine, its figures, and warnings.

#include <QComboBox>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QTreeWidget>
#include <QWidget>

#include "models/runs_model.h"
#include "state/view_state.h"
#include "widgets/drawing.h"

namespace draftscope::gui {

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

 private:
  void set_up_table();
  void show_recording();
  void show_run();
  /// Shows the figures with the prefill, or of decoding alone.
  void show_span();

  ViewState& state_;
  RunsModel runs_;
  QSortFilterProxyModel sorted_;
  QLabel* identity_ = new QLabel;
  QLabel* warnings_ = new QLabel;
  QTableView* table_ = new QTableView;
  PhasesCell* phases_;
  QComboBox* span_ = new QComboBox;
  PhaseLegend* phase_legend_ = new PhaseLegend;
  WhyCard* why_;
  QTreeWidget* details_ = new QTreeWidget;
};

}  // namespace draftscope::gui
