// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decisions of the run's strategy and their reasons: a picture per kind of decision, in the style of the
// papers, and a table. A line says what was decided at the cursor's round and whether its mask changed. A
// search of `tune` is opened from its policy file.

#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QWidget>
#include <optional>

#include "charts/chart_plot.h"
#include "data/decisions/decision_pictures.h"
#include "models/decisions_model.h"
#include "state/view_state.h"
#include "views/decisions/exit_grid_plot.h"
#include "widgets/read_when_asked.h"

namespace draftscope::gui {

class DecisionPlot;
struct NumberedPicture;
struct RoundsPicture;

class DecisionsView : public QWidget {
  Q_OBJECT

 public:
  explicit DecisionsView(ViewState& state, QWidget* parent = nullptr);

  /// Chooses the picture with this key; an unknown key changes nothing.
  void choose(std::string_view key);
  /// Shows the search that led to a policy. If it can't be read, an error stands in its place.
  void open_search(const QString& path);
  /// Moves the cursor to a round and shows the decision that chose its mask.
  void show_mask_decision(std::uint32_t round_index);

 private:
  void lay_out();
  void list_pictures();
  void forget_run();
  void read();
  void show_run();
  void show_picture();
  void take(std::shared_ptr<const RoundsPicture> picture);
  void show_search();
  void bring_up(QWidget& widget);
  void show_cursor();
  void show_words_of_cursor();
  void choose_search();
  [[nodiscard]] const DecisionPicture& picture() const;
  /// Decisions of the shown run. Null before they are read, and if they do not include the run.
  [[nodiscard]] const RunHistory* run() const;

  ViewState& state_;
  ReadWhenAsked<RecordingPointer, DecisionHistory> reader_{read_decision_history, [this] { show_run(); }};
  DecisionsModel model_;
  BackgroundJob job_;
  bool is_stale_ = true;
  bool is_chosen_ = false;              ///< Chosen by the user; stays when the run changes.
  std::optional<std::uint32_t> asked_;  ///< Round whose mask's decision is shown once it is read.
  QString search_path_;
  QString search_problem_;
  std::shared_ptr<const NumberedPicture> search_;
  QComboBox* pictures_ = new QComboBox;
  QLabel* source_ = new QLabel;
  QStackedWidget* stack_ = new QStackedWidget;
  DecisionPlot* plot_;
  ChartPlot* numbered_ = new ChartPlot(tr("Decisions by number"));
  ExitGridPlot* grid_ = new ExitGridPlot;
  QLabel* notice_;
  QLabel* words_;
  QTableView* table_ = new QTableView;
};

}  // namespace draftscope::gui
