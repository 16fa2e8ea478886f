// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Two to six runs of the open recordings against one of them. On top what was set differently and whether the
// texts are the same; a table with ratios and intervals; and for one request, aligned by output token: the
// race (when each token was there), where each run gains or loses against the baseline along the text, and
// how the rounds' times are spread. Compared on a worker, when the view is first seen and when the choice
// changes.

#include <QPen>
#include <QWidget>

#include "models/comparison_model.h"
#include "state/view_state.h"
#include "views/background_job.h"

class QComboBox;
class QCPGraph;
class QCPItemStraightLine;
class QCustomPlot;
class QLabel;
class QTableView;
class QTreeWidget;
class QTreeWidgetItem;

namespace draftscope::gui {

class RacePlayer;

class CompareView : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t max_runs = 6;

  explicit CompareView(ViewState& state, QWidget* parent = nullptr);

  void set_runs(std::vector<ComparedRun> runs, std::size_t baseline);
  [[nodiscard]] const std::vector<ComparedRun>& runs() const { return runs_; }
  [[nodiscard]] const ComparisonModel& model() const { return model_; }

 signals:
  /// The last choice is compared, and shown.
  void compared();

 protected:
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  /// A finished comparison, of runs that may no longer be the chosen ones.
  struct Compared {
    RunsComparison comparison;
    std::size_t baseline = 0;
    std::vector<RoundTimeSpread> spreads;  ///< [compared run]
  };

  void set_up_widgets();
  void lay_out();
  [[nodiscard]] bool is_open(const ComparedRun& run) const;
  /// Chooses anew among the recordings that are open, as little as they force to.
  void follow_opened();
  /// Others are open.
  void take_opened();
  void list_runs();
  void take_checked();
  /// Lines on what is compared, and on what to make of it.
  [[nodiscard]] QString notes() const;
  void start();
  void show_comparison(Compared compared);
  void list_requests();
  /// The one to align; null if the runs share none.
  [[nodiscard]] const AlignedRequest* aligned_request() const;
  [[nodiscard]] QPen pen_of(std::size_t run_index) const;
  void show_request();
  void draw_race(const AlignedRequest& aligned);
  void draw_times(std::size_t run_index, const std::vector<std::int64_t>& times_ns);
  void draw_gain(std::size_t run_index, const std::vector<std::int64_t>& times_ns,
                 const std::vector<std::int64_t>& baseline_ns);
  void add_race_mark(std::size_t run_index);
  void draw_spreads();
  void mark_cursor();
  /// Each run's place in the race.
  void mark_race();
  void style_plots();

  ViewState& state_;
  std::vector<ComparedRun> runs_;
  std::size_t baseline_ = 0;
  ComparisonModel model_;
  std::size_t shown_baseline_ = 0;
  std::vector<RoundTimeSpread> spreads_;
  BackgroundJob job_;
  bool is_stale_ = true;
  bool is_listing_ = false;
  QTreeWidget* choice_;
  QLabel* notes_;
  QTableView* table_;
  QComboBox* requests_;
  QCustomPlot* race_;
  QCustomPlot* gains_;
  QCustomPlot* spread_;
  RacePlayer* player_;
  QCPItemStraightLine* race_cursor_ = nullptr;
  QCPItemStraightLine* gains_cursor_ = nullptr;
  std::vector<QCPGraph*> race_places_;  ///< [compared run] a mark where it is
};

}  // namespace draftscope::gui
