// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Two to six runs of the open recordings against one of them. On top what was set differently and whether the
// texts are the same, and a table with ratios and intervals; below, the gains of all runs with their
// intervals, which wins on which category of prompts, and the gain on each prompt. Compared on a worker, when
// the view is first seen and when the choice changes.

#include <QWidget>
#include <utility>
#include <vector>

#include "charts/chart_places.h"
#include "data/details/all_runs.h"
#include "models/comparison_model.h"
#include "state/view_state.h"
#include "widgets/background_job.h"

class QLabel;
class QTabWidget;
class QTableView;
class QTreeWidget;
class QTreeWidgetItem;

namespace draftscope::gui {

class ChartPane;

class CompareView : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t max_runs = 6;

  explicit CompareView(ViewState& state, QWidget* parent = nullptr);

  /// Compares what is chosen, unless that is done or under way.
  void start();
  void set_runs(std::vector<ComparedRun> runs, std::size_t baseline);
  [[nodiscard]] const std::vector<ComparedRun>& runs() const { return runs_; }
  [[nodiscard]] const ComparisonModel& model() const { return model_; }
  [[nodiscard]] const AllRuns& all() const { return all_; }

 signals:
  /// The last choice is compared, and shown.
  void compared();
  /// A request is to be replayed.
  void request_asked(const draftscope::gui::ComparedRun& run, std::size_t request_index);

 protected:
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  /// A finished comparison, of runs that may no longer be the chosen ones.
  struct Compared {
    RunsComparison comparison;
    AllRuns all;
    std::vector<ComparedRun> runs;
  };

  void set_up_widgets();
  void lay_out();
  [[nodiscard]] bool is_open(const ComparedRun& run) const;
  /// Chooses anew among the recordings that are open, as little as they force to.
  void follow_opened();
  /// Others are open.
  void take_opened();
  void list_runs();
  /// Checks the boxes of what is compared, and no others. Its items stay: one of them may be telling that it
  /// changed.
  void check_chosen();
  void take_checked();
  /// Lines on what is compared, and on what to make of it.
  [[nodiscard]] QString notes() const;
  void show_comparison(Compared compared);
  void style_choice();
  void ask_for_request(const ChartPlace& place);

  ViewState& state_;
  std::vector<ComparedRun> runs_;
  std::size_t baseline_ = 0;
  ComparisonModel model_;
  AllRuns all_;
  std::vector<ComparedRun> compared_;  ///< Runs that are shown.
  BackgroundJob job_;
  bool is_stale_ = true;
  bool is_listing_ = false;
  QTreeWidget* choice_;
  std::vector<std::pair<QTreeWidgetItem*, ComparedRun>> listed_;  ///< items of `choice_` and their runs
  QLabel* notes_;
  QTableView* table_;
  QTabWidget* tabs_;
  ChartPane* forest_;
  ChartPane* categories_;
  ChartPane* prompts_;
};

}  // namespace draftscope::gui
