// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The current question on every specified GPU, sorted by speedup. A worker computes it while the pane is
// visible.

#include <QWidget>

#include "models/numbers_model.h"
#include "what_if/scenario_table.h"
#include "widgets/background_job.h"

class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace draftscope::gui {

class ChartPane;

class GpusPane : public QWidget {
  Q_OBJECT

 public:
  explicit GpusPane(QWidget* parent = nullptr);

  /// Sets the question; without a recording the pane is empty.
  void set_question(TrainedPointer trained, const Question& question);
  void forget();
  /// Starts computing, unless that is done or under way.
  void start();
  [[nodiscard]] const std::vector<GpuAnswer>& answers() const { return answers_; }

 signals:
  void chosen(const QString& gpu);
  /// The newest question is answered on all GPUs.
  void answered();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void take(std::vector<GpuAnswer> answers);
  void choose();

  TrainedPointer trained_;
  Question question_;
  BackgroundJob job_;
  bool is_stale_ = false;
  std::vector<GpuAnswer> answers_;
  NumbersModel numbers_;
  QSortFilterProxyModel* sorted_;
  QLabel* words_;
  QTableView* table_;
  ChartPane* chart_;
};

}  // namespace draftscope::gui
