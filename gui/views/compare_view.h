// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Two to six runs of the open recordings against one of them. On top what was set differently and whether the
// texts are the same; a table with ratios and intervals; and for one request, aligned by output token: the
// race (when each token was there), where each run gains or loses against the baseline along the text, and
// how the rounds' times are spread.

#include <QWidget>

#include "models/comparison_model.h"
#include "state/view_state.h"

class QComboBox;
class QCPItemStraightLine;
class QCustomPlot;
class QLabel;
class QTableView;
class QTreeWidget;
class QTreeWidgetItem;

namespace draftscope::gui {

class CompareView : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t most_runs = 6;

  explicit CompareView(ViewState& state, QWidget* parent = nullptr);

  void set_runs(std::vector<ComparedRun> runs, std::size_t baseline);
  [[nodiscard]] const std::vector<ComparedRun>& runs() const { return runs_; }
  [[nodiscard]] const ComparisonModel& model() const { return model_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void list_runs();
  void take_checked();
  void show_comparison();
  void show_request();
  void mark_cursor();
  void style_plots();

  ViewState& state_;
  std::vector<ComparedRun> runs_;
  std::size_t baseline_ = 0;
  ComparisonModel model_;
  bool is_listing_ = false;
  QTreeWidget* choice_;
  QLabel* notes_;
  QTableView* table_;
  QComboBox* requests_;
  QCustomPlot* race_;
  QCustomPlot* gains_;
  QCustomPlot* spread_;
  QCPItemStraightLine* race_cursor_ = nullptr;
  QCPItemStraightLine* gains_cursor_ = nullptr;
};

}  // namespace draftscope::gui
