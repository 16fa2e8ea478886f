// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the run's strategy decided and why: a picture for each kind of decision, as the papers draw them, the
// decisions as a table, and in a line what was decided at the cursor's round and whether its mask changed. A
// search of `tune` is opened from its policy file.

#include <QWidget>
#include <optional>

#include "data/decisions/decision_pictures.h"
#include "models/decisions_model.h"
#include "state/view_state.h"
#include "views/decisions/decisions_reader.h"
#include "widgets/background_job.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QTableView;

namespace draftscope::gui {

class ChartPlot;
class DecisionPlot;
class ExitGridPlot;
struct NumberedPicture;
struct RoundsPicture;

class DecisionsView : public QWidget {
  Q_OBJECT

 public:
  explicit DecisionsView(ViewState& state, QWidget* parent = nullptr);

  /// The picture by its key; an unknown one changes nothing.
  void choose(std::string_view key);
  /// Shows how the search went that led to a policy; what can't be read is said in its place.
  void open_search(const QString& path);
  /// Takes the cursor to a round and shows the decision that its mask goes back to.
  void show_mask_decision(std::uint32_t round_index);

 signals:
  /// The picture, or why there is none, is shown.
  void shown();

 protected:
  void paintEvent(QPaintEvent* event) override;

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
  /// Null before it is read, and where the run is not in it.
  [[nodiscard]] const RunHistory* run() const;

  ViewState& state_;
  DecisionsReader reader_;
  DecisionsModel model_;
  BackgroundJob job_;
  bool is_stale_ = true;
  bool is_chosen_ = false;              ///< the picture, by the user: it stays when the run changes
  std::optional<std::uint32_t> asked_;  ///< round whose mask's decision is to be shown once it is read
  QString search_path_;
  QString search_problem_;
  std::shared_ptr<const NumberedPicture> search_;
  QComboBox* pictures_;
  QLabel* source_;
  QStackedWidget* stack_;
  DecisionPlot* plot_;
  ChartPlot* numbered_;
  ExitGridPlot* grid_;
  QLabel* notice_;
  QLabel* words_;
  QTableView* table_;
};

}  // namespace draftscope::gui
