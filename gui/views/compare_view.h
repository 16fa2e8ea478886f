// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Compares two to six runs of the open recordings with one of them: settings that differ, whether the texts
// are the same, and a table with ratios and intervals. Below are the gains of all runs, the winner per
// category of prompts, and the gain per prompt. A worker compares when the view is first shown and when the
// choice changes.

#include <QLabel>
#include <QTabWidget>
#include <QTableView>
#include <QTreeWidget>
#include <QWidget>
#include <utility>
#include <vector>

#include "charts/chart_pane.h"
#include "charts/chart_places.h"
#include "data/details/run_comparison.h"
#include "models/comparison_model.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

class QTreeWidgetItem;

namespace draftscope::gui {

class CompareView : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t max_runs = 6;

  explicit CompareView(ViewState& state, QWidget* parent = nullptr);

  /// Compares the chosen runs, unless that is done or under way.
  void start();
  void set_runs(std::vector<ComparedRun> runs, std::size_t baseline);
  [[nodiscard]] const std::vector<ComparedRun>& runs() const { return runs_; }
  [[nodiscard]] const ComparisonModel& model() const { return model_; }
  [[nodiscard]] const AllRuns& all() const { return all_; }

 signals:
  /// Emitted when the last choice is compared and shown.
  void compared();
  /// Emitted when the user asks to replay a request.
  void request_asked(const draftscope::gui::ComparedRun& run, std::size_t request_index);

 private:
  /// A finished comparison; its runs may no longer be the chosen ones.
  struct Compared {
    RunsComparison comparison;
    AllRuns all;
    std::vector<ComparedRun> runs;
  };

  void set_up_widgets();
  void lay_out();
  [[nodiscard]] bool is_open(const ComparedRun& run) const;
  /// Adjusts the choice to the open recordings, with as few changes as possible.
  void follow_opened();
  /// Called when the set of open recordings changed.
  void take_opened();
  void list_runs();
  /// Checks the boxes of the compared runs, and no others. Keeps the items, since one may be sending the
  /// current signal.
  void check_chosen();
  void take_checked();
  /// Lines about what is compared, and how to interpret it.
  [[nodiscard]] QString notes() const;
  void show_comparison(Compared compared);
  void style_choice();
  void ask_for_request(const ChartPlace& place);
  /// Adds the run of a mark to the compared ones, or takes it from them.
  void check_run_of_forest(const ChartPlace& place);
  void show_choice_menu(const QPoint& at);

  ViewState& state_;
  std::vector<ComparedRun> runs_;
  std::size_t baseline_ = 0;
  ComparisonModel model_;
  AllRuns all_;
  std::vector<ComparedRun> compared_;  ///< Runs that are shown.
  BackgroundJob job_;
  bool is_stale_ = true;
  bool is_listing_ = false;
  QTreeWidget* choice_ = new QTreeWidget;
  std::vector<std::pair<QTreeWidgetItem*, ComparedRun>> listed_;  ///< Items of `choice_` and their runs.
  QLabel* notes_ = new QLabel;
  QTableView* table_ = new QTableView;
  QTabWidget* tabs_ = new QTabWidget;
  ChartPane* forest_ = new ChartPane(tr("Speedup of all runs"));
  ChartPane* categories_ = new ChartPane(tr("Which wins where"));
  ChartPane* prompts_ = new ChartPane(tr("Gain by prompt"));
};

}  // namespace draftscope::gui
